/** Many schedules, changed in as few transactions as etcd accepts. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { AlreadyExistsError } from "../../../src/schedule/errors.ts";
import { applyInParts } from "../../../src/site/operate/apply-in-parts.ts";
import { buildImportMutation } from "../../../src/site/operate/import-schedules.ts";
import { buildAddManyMutation } from "../../../src/site/operate/schedule-mutations.ts";
import { OperatorFixture } from "./operator-fixture.ts";

const HOURLY: Definition = { cron: "0 * * * *", timezone: "UTC", type: "x" };

const listIds = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`);
const addMany = (ids: readonly string[], more: Partial<Definition> = {}) =>
  buildAddManyMutation(new Map(ids.map((id) => [id, { definition: { ...HOURLY, ...more }, first: {} }])));
const importMany = (ids: readonly string[], definition = HOURLY) =>
  buildImportMutation({
    target: "crontab x",
    source: "crontab:x",
    prunes: false,
    definitions: new Map(ids.map((id) => [id, definition])),
  });

/** Ids of the schedules in etcd that have a definition and a state. @throws if one has only one of them */
async function listWhole({ store }: OperatorFixture) {
  const [definitions, dues] = await Promise.all([
    store.readRange(keys.schedules()),
    store.readRange(keys.dues()),
  ]);
  const ids = definitions.kvs.map(({ key }) => key.slice(keys.schedules().key.length));
  expect(dues.kvs.map(({ key }) => key)).toEqual(ids.map((id) => keys.due(id)));
  return ids;
}

describe("schedules that are added together", () => {
  it.each([[1], [60], [1_000]])("%i are one transaction with one audit record", async (count) => {
    const operator = new OperatorFixture();
    const ids = listIds(count);
    const result = await applyInParts(operator.ports, addMany(ids));
    expect(result.kind === "done" && result.changes.map(({ before }) => before.id)).toEqual(ids);
    expect(await listWhole(operator)).toEqual([...ids].sort());
    expect(await operator.listRecords()).toMatchObject([{ action: "schedule" }]);
    expect((await operator.store.readRange(keys.schedules())).revision).toBe(2n);
  });

  it("more than one transaction has are added in parts, each with its record", async () => {
    const operator = new OperatorFixture();
    const left: number[] = [];
    const result = await applyInParts(operator.ports, addMany(listIds(4_000)), {
      onPart: ({ length }) => left.push(length),
    });
    expect(left).toEqual([2_200, 400]);
    expect(result.kind === "done" && result.changes.length).toBe(4_000);
    expect(await listWhole(operator)).toHaveLength(4_000);
    const outcomes = (await operator.listRecords()).map((record) => record?.outcome);
    expect(outcomes.sort()).toEqual(["added: 1800", "added: 1800", "added: 400"]);
  });

  it("none is added if one exists; all that exist are named", async () => {
    const operator = new OperatorFixture();
    await operator.apply(addMany(["s7", "s3"]));
    const added = applyInParts(operator.ports, addMany(listIds(2_000)));
    await expect(added).rejects.toThrow(AlreadyExistsError);
    await expect(added).rejects.toThrow(/schedule "s3" already exists.*; schedule "s7" already exists/);
    expect(await listWhole(operator)).toEqual(["s3", "s7"]);
  });

  it("an error names ten schedules, and counts the others", async () => {
    const operator = new OperatorFixture();
    await operator.clock.advance(1_000);
    const past = applyInParts(operator.ports, addMany(listIds(12), { end: 1 }));
    await expect(past).rejects.toThrow(
      /^schedule "s0" would never fire: .*"s9" would never fire.* and 2 more$/,
    );
  });

  it("one that somebody adds between the parts stays, and the other parts are not added", async () => {
    const operator = new OperatorFixture();
    const added = applyInParts(operator.ports, addMany(listIds(4_000)), {
      onPart: (left) => {
        if (left.length === 2_200) void operator.put(keys.schedule("s3999"), formatDefinition(HOURLY));
      },
    });
    await expect(operator.advanceUntilSettled(added)).rejects.toThrow(/^schedule "s3999" already exists/);
    await operator.delete(keys.schedule("s3999"));
    expect(await listWhole(operator)).toHaveLength(1_800);
  });

  it.each(["lost", "refused"] as const)("each is added once if answers are %s", async (fate) => {
    const operator = new OperatorFixture();
    const added = applyInParts(operator.ports, addMany(listIds(4_000)), {
      onPart: () => operator.store.fates.push(fate, fate),
    });
    operator.store.fates.push(fate);
    expect((await operator.advanceUntilSettled(added)).kind).toBe("done");
    expect(await listWhole(operator)).toHaveLength(4_000);
    expect(await operator.listRecords()).toHaveLength(3);
  });
});

it("an import stops if a definition is newer than what the operator has seen", async () => {
  const operator = new OperatorFixture();
  await applyInParts(operator.ports, importMany(["s0", "s1"]));
  const { revision: seen } = await operator.store.readRange(keys.schedules());
  await applyInParts(operator.ports, importMany(["s1"], { ...HOURLY, note: "new" }));
  const result = await applyInParts(operator.ports, importMany(["s0", "s1"], { ...HOURLY, cron: "@daily" }), {
    seen,
  });
  expect(result).toMatchObject({ kind: "changed", ids: ["s1"] });
});
