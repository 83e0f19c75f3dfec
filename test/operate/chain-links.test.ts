/** Changes of chains: the schedules before one know it, and what cannot work is refused. */
import { expect, it } from "vitest";
import { buildImportMutation } from "../../src/operate/import-schedules.ts";
import { applyMutation, type ScheduleMutation } from "../../src/operate/schedule-mutation.ts";
import {
  buildAddMutation,
  buildDeleteMutation,
  buildModifyMutation,
  buildTriggerMutation,
} from "../../src/operate/schedule-mutations.ts";
import type { Definition } from "../../src/schedule/definition.ts";
import { handEnd } from "../../src/schedule/state/chain.ts";
import { formatDue, parseDue } from "../../src/schedule/state/due.ts";
import { keys } from "../protocol/samples.ts";
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

function setUp() {
  const operator = new OperatorFixture();
  const readSuccessors = async (id: string) => {
    const { kvs } = await operator.store.readRange({ key: keys.due(id) });
    const parsed = parseDue(kvs[0]?.value ?? "");
    return "value" in parsed ? (parsed.value.successors ?? []) : undefined;
  };
  const apply = (mutation: ScheduleMutation) => applyMutation(operator.ports, mutation);
  const add = (id: string, ...after: string[]) => apply(buildAddMutation(id, following(...after)));
  return { operator, apply, add, readSuccessors };
}

it("adds, moves and ends a link in the transaction of the change", async () => {
  const { apply, add, readSuccessors } = setUp();
  for (const id of ["a", "b"]) await add(id);
  await add("c", "a", "b");
  await add("d", "a");
  expect([await readSuccessors("a"), await readSuccessors("b")]).toEqual([["c", "d"], ["c"]]);
  await apply(buildModifyMutation(["d"], follow("b")));
  expect([await readSuccessors("a"), await readSuccessors("b")]).toEqual([["c"], ["c", "d"]]);
  await apply(buildDeleteMutation(["c"]));
  expect([await readSuccessors("a"), await readSuccessors("b")]).toEqual([[], ["d"]]);
});

it("gives an end that is handed on to those that followed already, and not to one that is added meanwhile", async () => {
  const { operator, apply, add } = setUp();
  const key = keys.due("a");
  const readState = async () => {
    const parsed = parseDue((await operator.store.readRange({ key })).kvs[0]?.value ?? "");
    if ("fault" in parsed) throw new Error(parsed.fault);
    return parsed.value;
  };
  await add("a");
  for (const id of ["b", "m", "x", "y"]) await add(id, "a");
  const end = { id: "a", scheduled: 1, endedAt: 2, result: "ok", isDead: false, upTo: "b" } as const;
  const value = formatDue({ ...(await readState()), handed: [end] });
  await operator.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
  await add("n", "a");
  await apply(buildModifyMutation(["x"], follow()));
  await apply(buildModifyMutation(["x"], follow("a")));
  const state = await readState();
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
  const { apply, add, readSuccessors } = setUp();
  await add("a");
  await add("b", "a");
  await apply(buildTriggerMutation(["a"], { data: 1 }));
  await apply(buildModifyMutation(["a"], (before) => ({ ...following(), ...before, cron: "@daily" })));
  expect(await readSuccessors("a")).toEqual(["b"]);
});

it("refuses a schedule that does not exist, a cycle, and the deletion of one that others follow", async () => {
  const { operator, apply, add } = setUp();
  for (const [id, ...after] of [["a"], ["b", "a"], ["c", "b"]]) await add(id ?? "", ...after);
  const before = await operator.store.readRange(keys.getFullRange());
  const cases: [ScheduleMutation, RegExp][] = [
    [buildAddMutation("d", following("z")), /cannot follow schedule "z": there is none; add it first/],
    [buildAddMutation("d", following("d")), /is a cycle, d -> d/],
    [buildModifyMutation(["a"], follow("c")), /cannot follow "c": that is a cycle, a -> c -> b -> a/],
    [buildAddMutation("d", following("a", "a")), /must follow at most 100 different schedules; got 2: a, a/],
    [
      buildDeleteMutation(["a"]),
      /"a" cannot be deleted: schedule "b" follows it; delete both, or first: signalbox schedule edit b --after ''/,
    ],
  ];
  for (const [mutation, why] of cases) await expect(apply(mutation)).rejects.toThrow(why);
  expect((await operator.store.readRange(keys.getFullRange())).kvs).toEqual(before.kvs);
  await apply(buildDeleteMutation(["c", "a", "b"]));
  expect((await operator.store.readRange(keys.dues())).kvs).toEqual([]);
});

it("links an imported file in any order, and unlinks what it no longer has", async () => {
  const { apply, readSuccessors } = setUp();
  const load = (definitions: [string, Definition][]) =>
    apply(
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
  expect([await readSuccessors("a"), await readSuccessors("b")]).toEqual([["b"], ["c"]]);
  await expect(load([own("b", "a")])).rejects.toThrow(/"a" cannot be deleted|cannot follow schedule "a"/);
  await load([own("c", "a"), own("a")]);
  expect(await readSuccessors("a")).toEqual(["c"]);
});

it("two operators cannot close a cycle together", async () => {
  const { operator, apply, add } = setUp();
  for (const [id, ...after] of [["a"], ["b", "a"], ["c"], ["d", "c"]]) await add(id ?? "", ...after);
  const commit = operator.store.commitTxn.bind(operator.store);
  let isFirst = true;
  operator.store.commitTxn = async (txn, signal) => {
    const isWrite = txn.success.some(({ op }) => op === "put");
    if (isWrite && isFirst) {
      isFirst = false;
      await apply(buildModifyMutation(["a"], follow("d")));
    }
    return await commit(txn, signal);
  };
  await expect(apply(buildModifyMutation(["c"], follow("b")))).rejects.toThrow("is a cycle");
});
