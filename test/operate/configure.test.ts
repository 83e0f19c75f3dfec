/** Changes of the configuration: one guarded transaction applies all of them, or none. */
import { describe, expect, it } from "vitest";
import type { ConfigChange } from "../../src/fleet/config-changes.ts";
import { MAX_CHANGES } from "../../src/operate/chunks.ts";
import { applyConfigUpdate, type ConfigKeyRevision, type ConfigUpdate } from "../../src/operate/configure.ts";
import { readConfigAudit } from "../../src/operate/operator-action.ts";
import { parseAuditRecord } from "../../src/protocol/audit.ts";
import { keys } from "../protocol/samples.ts";
import { type Fate, OperatorFixture } from "./operator-fixture.ts";

const buildGroupAddition = (name: string, after: readonly string[] = []): ConfigChange => ({
  kind: "group",
  name,
  before: undefined,
  after,
});
const buildGroupRemoval = (name: string): ConfigChange => ({
  kind: "group",
  name,
  before: [],
  after: undefined,
});
const buildTotalChange = (name: string, after: string): ConfigChange => ({
  kind: "resource",
  name,
  before: undefined,
  after: { total: after },
});
const buildManyAdditions = (count: number, word = "g") =>
  Array.from({ length: count }, (_, index) => buildGroupAddition(`${word}${index}`, ["web1"]));

/** What an operator sees now. */
async function readState(operator: OperatorFixture): Promise<{ seen: bigint; keys: ConfigKeyRevision[] }> {
  const { kvs, revision } = await operator.store.readRange(keys.getFullRange());
  const found = kvs.flatMap(({ key, modRevision }): ConfigKeyRevision[] => {
    const parsed = keys.parse(key);
    if (parsed.kind === "group") return [{ kind: "group", name: parsed.name, modRevision }];
    return parsed.kind === "resourceConfig" ? [{ kind: "resource", name: parsed.name, modRevision }] : [];
  });
  return { seen: revision, keys: found };
}

async function applyChanges(
  operator: OperatorFixture,
  changes: readonly ConfigChange[],
  guardsAll = true,
): Promise<ConfigUpdate> {
  return {
    action: "import",
    target: "configuration",
    outcome: "changed",
    changes,
    guardsAll,
    ...(await readState(operator)),
  };
}

async function does(operator: OperatorFixture, ...changes: ConfigChange[]): Promise<void> {
  expect((await applyConfigUpdate(operator.ports, await applyChanges(operator, changes))).kind).toBe("done");
}

const put = (operator: OperatorFixture, key: string, value = "[]") =>
  operator.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
const remove = (operator: OperatorFixture, key: string) =>
  operator.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });

describe("changes", () => {
  it("of groups and resources are made together, with one record", async () => {
    const operator = new OperatorFixture();
    await does(operator, buildGroupAddition("old"), buildGroupAddition("web"));
    await does(
      operator,
      buildGroupRemoval("old"),
      buildGroupAddition("all", ["web"]),
      buildTotalChange("db", "10"),
    );
    const { kvs } = await operator.store.readRange({
      ...keys.groups(),
      rangeEnd: keys.resourceConfigs().rangeEnd,
    });
    expect(kvs.map(({ key, value }) => [key.slice(keys.prefix.length), value])).toEqual([
      ["config/groups/all", '["web"]'],
      ["config/groups/web", "[]"],
      ["config/resources/db", '{"v":1,"total":"10"}'],
    ]);
    expect((await operator.store.readRange(keys.audits())).count).toBe(2);
  });

  it.each<Fate[]>([["lost"], ["refused", "lost"], ["lost", "lost", "fine"]])(
    "are made once when answers are %s, %s, %s, also those of many",
    async (...fates) => {
      for (const count of [1, 200]) {
        const operator = new OperatorFixture();
        await does(operator, ...buildManyAdditions(80, "before"));
        const order = await applyChanges(operator, buildManyAdditions(count));
        operator.store.fates.push(...fates.filter(Boolean));
        const receipt = await operator.advanceUntilSettled(applyConfigUpdate(operator.ports, order));
        expect(receipt.kind).toBe("done");
        const { kvs } = await operator.store.readRange(keys.groups());
        expect(kvs).toHaveLength(80 + count);
        for (const { createRevision, modRevision } of kvs) expect(modRevision).toBe(createRevision);
        expect((await operator.store.readRange(keys.audits())).count).toBe(2);
      }
    },
  );

  it(`are ${MAX_CHANGES} at most in one transaction, and it holds them`, async () => {
    const operator = new OperatorFixture();
    await does(operator, ...buildManyAdditions(MAX_CHANGES));
    expect((await operator.store.readRange(keys.groups())).count).toBe(MAX_CHANGES);
    const order = await applyChanges(operator, buildManyAdditions(MAX_CHANGES + 1, "h"));
    await expect(applyConfigUpdate(operator.ports, order)).rejects.toThrow(
      /exceed the limits of one transaction.*in parts/,
    );
    const heavy = await applyChanges(operator, [buildGroupAddition("web", ["x".repeat(1_500_000)])]);
    await expect(applyConfigUpdate(operator.ports, heavy)).rejects.toThrow(
      /1500\d{3} bytes exceed the limits/,
    );
  });
});

describe("changes are refused", () => {
  const meddling: [what: string, meddle: (operator: OperatorFixture) => Promise<unknown>][] = [
    ["a group changed", (operator) => put(operator, keys.group("before1"), '["other"]')],
    ["a group was written again as it was", (operator) => put(operator, keys.group("before1"), '["web1"]')],
    ["a group came", (operator) => put(operator, keys.group("new"))],
    ["a resource came", (operator) => put(operator, keys.resourceConfig("new"), "1")],
    ["a group was deleted by somebody", async (operator) => does(operator, buildGroupRemoval("before1"))],
  ];

  describe.each([10, 60, 61, 500])("of a configuration of %d", (count) => {
    it.each(meddling)("when %s", async (_, meddle) => {
      const operator = new OperatorFixture();
      await does(operator, ...buildManyAdditions(count, "before"));
      const order = await applyChanges(operator, [buildGroupAddition("web")]);
      await meddle(operator);
      expect((await applyConfigUpdate(operator.ports, order)).kind).toBe("changed");
      expect((await operator.store.readRange({ key: keys.group("web") })).count).toBe(0);
    });
  });

  it("when a group was deleted by hand, where there are few", async () => {
    const operator = new OperatorFixture();
    await does(operator, ...buildManyAdditions(60, "before"));
    const order = await applyChanges(operator, [buildGroupAddition("web")]);
    await remove(operator, keys.group("before1"));
    expect((await applyConfigUpdate(operator.ports, order)).kind).toBe("changed");
  });

  it("of one group only when that group moved", async () => {
    const operator = new OperatorFixture();
    await does(operator, buildGroupAddition("web"), buildGroupAddition("db"));
    const order = await applyChanges(
      operator,
      [{ kind: "group", name: "web", before: [], after: ["a"] }],
      false,
    );
    await put(operator, keys.group("db"), '["other"]');
    expect((await applyConfigUpdate(operator.ports, order)).kind).toBe("done");
    expect((await applyConfigUpdate(operator.ports, order)).kind).toBe("changed");
  });
});

describe("who configured", () => {
  it("is told by the audit, newest first, and nothing of other actions or before", async () => {
    const operator = new OperatorFixture();
    await does(operator, buildGroupAddition("a"));
    const { revision } = await operator.store.readRange(keys.groups());
    for (const name of ["b", "c"]) {
      await operator.clock.advance(1_000);
      await applyConfigUpdate(operator.ports, {
        ...(await applyChanges(operator, [buildGroupAddition(name)])),
        target: `group ${name}`,
      });
    }
    const found = await readConfigAudit(operator.ports, revision);
    expect(found.map(({ target, sudoUser }) => [target, sudoUser])).toEqual([
      ["group c", "ann"],
      ["group b", "ann"],
    ]);
    const { kvs } = await operator.store.readRange(keys.audits());
    expect(parseAuditRecord("x", kvs[0]?.value ?? "")).toMatchObject({
      action: "import",
      outcome: "changed",
    });
  });
});
