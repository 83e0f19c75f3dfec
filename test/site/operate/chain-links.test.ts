/** Changes of chains: the schedules before one know it, and what cannot work is refused. */
import { expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { handEnd } from "../../../src/schedule/state/chain.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import { buildImportMutation } from "../../../src/site/operate/import-schedules.ts";
import type { ScheduleMutation } from "../../../src/site/operate/schedule-mutation.ts";
import {
  buildAddMutation,
  buildDeleteMutation,
  buildModifyMutation,
  buildTriggerMutation,
} from "../../../src/site/operate/schedule-mutations.ts";
import { OperatorFixture } from "./operator-fixture.ts";

const following = (...after: string[]): Definition => ({
  cron: "@manual",
  timezone: "UTC",
  command: ["true"],
  ...(after.length > 0 && { after }),
});
const follow =
  (...after: string[]) =>
  (before: Definition | undefined): Definition => {
    const { after: _, ...rest } = before ?? following();
    return { ...rest, ...(after.length > 0 && { after }) };
  };

class ChainFixture extends OperatorFixture {
  add(id: string, ...after: string[]) {
    return this.apply(buildAddMutation(id, following(...after)));
  }

  async readSuccessors(id: string) {
    return (await this.readDue(id)).successors ?? [];
  }
}

it("adds, moves and ends a link in the transaction of the change", async () => {
  const operator = new ChainFixture();
  for (const id of ["a", "b"]) await operator.add(id);
  await operator.add("c", "a", "b");
  await operator.add("d", "a");
  expect([await operator.readSuccessors("a"), await operator.readSuccessors("b")]).toEqual([
    ["c", "d"],
    ["c"],
  ]);
  await operator.apply(buildModifyMutation(["d"], follow("b")));
  expect([await operator.readSuccessors("a"), await operator.readSuccessors("b")]).toEqual([
    ["c"],
    ["c", "d"],
  ]);
  await operator.apply(buildDeleteMutation(["c"]));
  expect([await operator.readSuccessors("a"), await operator.readSuccessors("b")]).toEqual([[], ["d"]]);
});

it("gives an end that is handed on to those that followed already, and not to one that is added meanwhile", async () => {
  const operator = new ChainFixture();
  await operator.add("a");
  for (const id of ["b", "m", "x", "y"]) await operator.add(id, "a");
  const end = { id: "a", scheduled: 1, endedAt: 2, result: "ok", isDead: false, upTo: "b" } as const;
  await operator.put(keys.due("a"), formatDue({ ...(await operator.readDue("a")), handed: [end] }));
  await operator.add("n", "a");
  await operator.apply(buildModifyMutation(["x"], follow()));
  await operator.apply(buildModifyMutation(["x"], follow("a")));
  const state = await operator.readDue("a");
  expect(state.successors).toEqual(["b", "m", "n", "x", "y"]);
  const [left] = state.handed ?? [];
  expect(left && handEnd(state, left, 1)).toMatchObject({
    followers: ["m"],
    due: { handed: [{ upTo: "m" }] },
  });
  expect(left && handEnd(state, left)).toEqual({
    followers: ["m", "y"],
    end: { id: "a", scheduled: 1, endedAt: 2, result: "ok", isDead: false },
    due: { ...state, handed: undefined },
  });
  const next = handEnd(state, { ...end, upTo: "" });
  expect(next.followers, "of the next end").toEqual(["b", "m", "n", "x", "y"]);
});

it("keeps its links where the state changes otherwise", async () => {
  const operator = new ChainFixture();
  await operator.add("a");
  await operator.add("b", "a");
  await operator.apply(buildTriggerMutation(["a"], { data: 1 }));
  await operator.apply(
    buildModifyMutation(["a"], (before) => ({ ...following(), ...before, cron: "@daily" })),
  );
  expect(await operator.readSuccessors("a")).toEqual(["b"]);
});

it("refuses a schedule that does not exist, a cycle, and the deletion of one that others follow", async () => {
  const operator = new ChainFixture();
  for (const [id, ...after] of [["a"], ["b", "a"], ["c", "b"]]) await operator.add(id ?? "", ...after);
  const before = await operator.store.readRange(keys.getFullRange());
  const cases: [ScheduleMutation, string][] = [
    [buildAddMutation("d", following("z")), 'cannot follow schedule "z": there is none; add it first'],
    [buildAddMutation("d", following("d")), "is a cycle, d -> d"],
    [buildModifyMutation(["a"], follow("c")), 'cannot follow "c": that is a cycle, a -> c -> b -> a'],
    [buildAddMutation("d", following("a", "a")), "must follow at most 100 different schedules; got 2: a, a"],
    [
      buildDeleteMutation(["a"]),
      '"a" cannot be deleted: schedule "b" follows it; delete both, or first: signalbox schedule edit b --after \'\'',
    ],
  ];
  for (const [mutation, why] of cases) await expect(operator.apply(mutation)).rejects.toThrow(why);
  expect((await operator.store.readRange(keys.getFullRange())).kvs).toEqual(before.kvs);
  await operator.apply(buildDeleteMutation(["c", "a", "b"]));
  expect((await operator.store.readRange(keys.dues())).kvs).toEqual([]);
});

it("links an imported file in any order, and unlinks what it no longer has", async () => {
  const operator = new ChainFixture();
  const load = (definitions: [string, Definition][]) =>
    operator.apply(
      buildImportMutation({
        target: "schedules",
        definitions: new Map(definitions),
        source: "f",
        prunes: true,
      }),
    );
  const own = (id: string, ...after: string[]): [string, Definition] => [
    id,
    { ...following(...after), source: "f" },
  ];
  await load([own("c", "b"), own("b", "a"), own("a")]);
  expect([await operator.readSuccessors("a"), await operator.readSuccessors("b")]).toEqual([["b"], ["c"]]);
  await expect(load([own("b", "a")])).rejects.toThrow(/"a" cannot be deleted|cannot follow schedule "a"/);
  await load([own("c", "a"), own("a")]);
  expect(await operator.readSuccessors("a")).toEqual(["c"]);
});

it("two operators cannot close a cycle together", async () => {
  const operator = new ChainFixture();
  for (const [id, ...after] of [["a"], ["b", "a"], ["c"], ["d", "c"]]) await operator.add(id ?? "", ...after);
  const commit = operator.store.commitTxn.bind(operator.store);
  let isFirst = true;
  operator.store.commitTxn = async (txn, signal) => {
    const isWrite = txn.success.some(({ op }) => op === "put");
    if (isWrite && isFirst) {
      isFirst = false;
      await operator.apply(buildModifyMutation(["a"], follow("d")));
    }
    return await commit(txn, signal);
  };
  await expect(operator.apply(buildModifyMutation(["c"], follow("b")))).rejects.toThrow("is a cycle");
});
