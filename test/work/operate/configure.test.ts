// Covers src/work/operate/chunks.ts, src/work/operate/config-audit.ts
/** Changes of the configuration: all of them in one guarded transaction, or none. */
import { describe, expect, it } from "vitest";
import type { ConfigChange } from "../../../src/fleet/config-changes.ts";
import { parseAuditRecord } from "../../../src/protocol/audit.ts";
import { MAX_CHANGES } from "../../../src/work/operate/chunks.ts";
import { readConfigAudit } from "../../../src/work/operate/config-audit.ts";
import {
  applyConfigUpdate,
  type ConfigKeyRevision,
  type ConfigUpdate,
} from "../../../src/work/operate/configure.ts";
import { keys } from "../../protocol/samples.ts";
import { type Fate, TestDesk } from "./desk.ts";

const added = (name: string, after: readonly string[] = []): ConfigChange => ({
  ...{ kind: "group", name, before: undefined, after },
});
const gone = (name: string): ConfigChange => ({ kind: "group", name, before: [], after: undefined });
const total = (name: string, after: string): ConfigChange => ({
  ...{ kind: "resource", name, before: undefined, after: { total: after } },
});
const many = (count: number, word = "g") =>
  Array.from({ length: count }, (_, index) => added(`${word}${index}`, ["web1"]));

/** What an operator sees now. */
async function seen(desk: TestDesk): Promise<{ seen: bigint; keys: ConfigKeyRevision[] }> {
  const { kvs, revision } = await desk.store.readRange(keys.getFullRange());
  const found = kvs.flatMap(({ key, modRevision }): ConfigKeyRevision[] => {
    const parsed = keys.parse(key);
    if (parsed.kind === "group") return [{ kind: "group", name: parsed.name, modRevision }];
    return parsed.kind === "resourceConfig" ? [{ kind: "resource", name: parsed.name, modRevision }] : [];
  });
  return { seen: revision, keys: found };
}

async function deed(
  desk: TestDesk,
  changes: readonly ConfigChange[],
  guardsAll = true,
): Promise<ConfigUpdate> {
  return {
    ...{ action: "import", target: "configuration", outcome: "changed", changes, guardsAll },
    ...(await seen(desk)),
  };
}

async function does(desk: TestDesk, ...changes: ConfigChange[]): Promise<void> {
  expect((await applyConfigUpdate(desk.ports, await deed(desk, changes))).kind).toBe("done");
}

const put = (desk: TestDesk, key: string, value = "[]") =>
  desk.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
const remove = (desk: TestDesk, key: string) =>
  desk.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });

describe("changes", () => {
  it("of groups and resources are made together, with one record", async () => {
    const desk = new TestDesk();
    await does(desk, added("old"), added("web"));
    await does(desk, gone("old"), added("all", ["web"]), total("db", "10"));
    const { kvs } = await desk.store.readRange({
      ...keys.groups(),
      rangeEnd: keys.resourceConfigs().rangeEnd,
    });
    expect(kvs.map(({ key, value }) => [key.slice(keys.prefix.length), value])).toEqual([
      ["config/groups/all", '["web"]'],
      ["config/groups/web", "[]"],
      ["config/resources/db", '{"v":1,"total":"10"}'],
    ]);
    expect((await desk.store.readRange(keys.audits())).count).toBe(2);
  });

  it.each<Fate[]>([["lost"], ["refused", "lost"], ["lost", "lost", "fine"]])(
    "are made once when answers are %s, %s, %s, also those of many",
    async (...fates) => {
      for (const count of [1, 200]) {
        const desk = new TestDesk();
        await does(desk, ...many(80, "before"));
        const order = await deed(desk, many(count));
        desk.store.fates.push(...fates.filter(Boolean));
        const receipt = await desk.settled(applyConfigUpdate(desk.ports, order));
        expect(receipt.kind).toBe("done");
        const { kvs } = await desk.store.readRange(keys.groups());
        expect(kvs).toHaveLength(80 + count);
        for (const { createRevision, modRevision } of kvs) expect(modRevision).toBe(createRevision);
        expect((await desk.store.readRange(keys.audits())).count).toBe(2);
      }
    },
  );

  it(`are ${MAX_CHANGES} at most in one transaction, and it holds them`, async () => {
    const desk = new TestDesk();
    await does(desk, ...many(MAX_CHANGES));
    expect((await desk.store.readRange(keys.groups())).count).toBe(MAX_CHANGES);
    const order = await deed(desk, many(MAX_CHANGES + 1, "h"));
    await expect(applyConfigUpdate(desk.ports, order)).rejects.toThrow(
      /exceed the limits of one transaction.*in parts/,
    );
    const heavy = await deed(desk, [added("web", ["x".repeat(1_500_000)])]);
    await expect(applyConfigUpdate(desk.ports, heavy)).rejects.toThrow(/1500\d{3} bytes exceed the limits/);
  });
});

describe("changes are refused", () => {
  const meddling: [what: string, meddle: (desk: TestDesk) => Promise<unknown>][] = [
    ["a group changed", (desk) => put(desk, keys.group("before1"), '["other"]')],
    ["a group was written again as it was", (desk) => put(desk, keys.group("before1"), '["web1"]')],
    ["a group came", (desk) => put(desk, keys.group("new"))],
    ["a resource came", (desk) => put(desk, keys.resourceConfig("new"), "1")],
    ["a group was deleted by somebody", async (desk) => does(desk, gone("before1"))],
  ];

  describe.each([10, 60, 61, 500])("of a configuration of %d", (count) => {
    it.each(meddling)("when %s", async (_, meddle) => {
      const desk = new TestDesk();
      await does(desk, ...many(count, "before"));
      const order = await deed(desk, [added("web")]);
      await meddle(desk);
      expect((await applyConfigUpdate(desk.ports, order)).kind).toBe("changed");
      expect((await desk.store.readRange({ key: keys.group("web") })).count).toBe(0);
    });
  });

  it("when a group was deleted by hand, where there are few", async () => {
    const desk = new TestDesk();
    await does(desk, ...many(60, "before"));
    const order = await deed(desk, [added("web")]);
    await remove(desk, keys.group("before1"));
    expect((await applyConfigUpdate(desk.ports, order)).kind).toBe("changed");
  });

  it("of one group only when that group moved", async () => {
    const desk = new TestDesk();
    await does(desk, added("web"), added("db"));
    const order = await deed(desk, [{ kind: "group", name: "web", before: [], after: ["a"] }], false);
    await put(desk, keys.group("db"), '["other"]');
    expect((await applyConfigUpdate(desk.ports, order)).kind).toBe("done");
    expect((await applyConfigUpdate(desk.ports, order)).kind).toBe("changed");
  });
});

describe("who configured", () => {
  it("is told by the audit, newest first, and nothing of other actions or before", async () => {
    const desk = new TestDesk();
    await does(desk, added("a"));
    const { revision } = await desk.store.readRange(keys.groups());
    for (const name of ["b", "c"]) {
      await desk.clock.advance(1_000);
      await applyConfigUpdate(desk.ports, { ...(await deed(desk, [added(name)])), target: `group ${name}` });
    }
    const found = await readConfigAudit(desk.ports, revision);
    expect(found.map(({ target, sudoUser }) => [target, sudoUser])).toEqual([
      ["group c", "ann"],
      ["group b", "ann"],
    ]);
    const { kvs } = await desk.store.readRange(keys.audits());
    expect(parseAuditRecord("x", kvs[0]?.value ?? "")).toMatchObject({
      action: "import",
      outcome: "changed",
    });
  });
});
