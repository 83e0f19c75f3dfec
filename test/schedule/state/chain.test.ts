/** The state of a schedule that follows others, after each of their ends. */
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import { addPredecessorEnd, handEnd, type OccurrenceEnd } from "../../../src/schedule/state/chain.ts";
import { type DueState, formatDue, type OpenOccurrence, parseDue } from "../../../src/schedule/state/due.ts";
import { MAX_OPEN_OCCURRENCES } from "../../../src/schedule/state/due-transitions.ts";

const NOW = 5_000_000;
const manual: Definition = { cron: "@manual", timezone: "UTC", after: ["a"] };
const idle: DueState = { runAt: 0, open: [] };
const end = (change: Partial<OccurrenceEnd> = {}): OccurrenceEnd => ({
  id: "a",
  scheduled: 1_000,
  endedAt: NOW,
  result: "ok",
  run: "r1",
  isDead: false,
  ...change,
});
const follow = (one: OccurrenceEnd, change: Partial<Definition> = {}, due: DueState = idle) =>
  addPredecessorEnd("b", { ...manual, ...change }, due, one);
const waiting = (scheduled: number, change: Partial<OpenOccurrence> = {}): OpenOccurrence => ({
  scheduled,
  runAt: scheduled,
  attempt: 0,
  failures: 0,
  kind: "after",
  ...change,
});

describe("which ends count", () => {
  const gaveUp = { result: "failed", isDead: true } as const;
  test.each<[string, Partial<OccurrenceEnd>, Partial<Definition>, boolean]>([
    ["a success, by default", {}, {}, true],
    ["not a failure, by default", gaveUp, {}, false],
    ["a failure that was given up", gaveUp, { on: "failure" }, true],
    ["not a success, where a failure is awaited", {}, { on: "failure" }, false],
    ["either: a success", {}, { on: "end" }, true],
    ["either: a failure", gaveUp, { on: "end" }, true],
    ["not one that the next occurrence replaced", { result: "replaced" }, { on: "end" }, false],
    ["a lost one that was given up", { result: "lost", isDead: true }, { on: "failure" }, true],
    ["not that of a schedule it does not follow", { id: "z" }, {}, false],
    ["not while it is paused", {}, { pause: { by: "ann", at: 1 } }, false],
    ["after a pause", {}, { pause: { by: "ann", at: 1, until: NOW - 1 } }, true],
  ])("%s", (_, change, definition, isAdded) => {
    expect(follow(end(change), definition).kind).toBe(isAdded ? "changed" : "unchanged");
  });
});

describe("the run", () => {
  test("has the scheduled time of the run before it, and starts when that ended", () => {
    const { isDead: _, ...told } = end();
    const open = [waiting(1_000, { runAt: NOW, after: [told] })];
    expect(follow(end())).toEqual({ kind: "changed", due: { ...idle, open } });
  });

  test("starts after the delay", () => {
    expect(follow(end(), { delay: 7_000 })).toMatchObject({ due: { open: [{ runAt: NOW + 7_000 }] } });
  });

  test("gets the data that was handed on, unless its schedule has its own", () => {
    const open = (change: Partial<Definition>) => {
      const step = follow(end({ data: { n: 1 } }), change);
      return step.kind === "changed" ? step.due.open[0] : undefined;
    };
    expect(open({})).toMatchObject({ data: { n: 1 } });
    expect(open({ data: 2 })).not.toHaveProperty("data");
    expect(open({ data: 2 })).toMatchObject({ after: [{ data: { n: 1 } }] });
  });

  test("gets its own time where other runs have it and the one after it", () => {
    const due = { ...idle, open: [waiting(1_000), waiting(1_001)] };
    expect(follow(end(), {}, due)).toMatchObject({ due: { open: [{}, {}, { scheduled: 1_002 }] } });
  });

  test("takes the place of one that waits, where only the latest counts", () => {
    const due = { ...idle, open: [waiting(500), waiting(600, { attempt: 1 })] };
    const step = follow(end(), { catchup: "latest" }, due);
    const times = step.kind === "changed" && step.due.open.map(({ scheduled }) => scheduled);
    expect(times).toEqual([600, 1_000]);
  });

  test("is dropped where too many wait", () => {
    const open = Array.from({ length: MAX_OPEN_OCCURRENCES }, (_, n) => waiting(n));
    expect(follow(end(), {}, { ...idle, open })).toEqual({ kind: "full" });
  });
});

describe("of several schedules", () => {
  const both = { after: ["a", "c"] };

  test("each must have ended since the last run", () => {
    const first = follow(end({ run: "r1" }), both);
    expect(first).toMatchObject({ due: { open: [], arrived: [{ id: "a", run: "r1" }] } });
    const again = follow(end({ run: "r2" }), both, first.kind === "changed" ? first.due : idle);
    expect(again).toMatchObject({ due: { open: [], arrived: [{ id: "a", run: "r2" }] } });
    const last = follow(
      end({ id: "c", scheduled: 2_000 }),
      both,
      again.kind === "changed" ? again.due : idle,
    );
    expect(last).toMatchObject({
      due: { open: [{ scheduled: 2_000, after: [{ id: "a", run: "r2" }, { id: "c" }] }] },
    });
    expect(last.kind === "changed" && last.due).not.toHaveProperty("arrived");
  });

  test("their data is told, and none is handed on", () => {
    const due = { ...idle, arrived: [{ id: "c", scheduled: 1, endedAt: 2, result: "ok" as const, data: 1 }] };
    const step = follow(end({ data: 2 }), both, due);
    const [open] = step.kind === "changed" ? step.due.open : [];
    expect(open).not.toHaveProperty("data");
    expect(open?.after?.map(({ data }) => data)).toEqual([1, 2]);
  });
});

describe("an end is given to those that follow", () => {
  const ids = Array.from({ length: 45 }, (_, n) => `f${String(n).padStart(2, "0")}`);
  const state: DueState = { ...idle, successors: ids };
  const first = () => handEnd(state, { ...end(), upTo: "" });

  test("to twenty at a time, in the order of their ids, until all have it", () => {
    const given: string[][] = [];
    let step = first();
    given.push([...step.followers]);
    for (let [left] = step.due.handed ?? []; left !== undefined; [left] = step.due.handed ?? []) {
      step = handEnd(step.due, left);
      given.push([...step.followers]);
    }
    expect(given).toEqual([ids.slice(0, 20), ids.slice(20, 40), ids.slice(40)]);
    expect(step).toEqual({ due: state, end: end(), followers: ids.slice(40) });
  });

  test("at once where few follow", () => {
    const few = { ...state, successors: ["b", "a"] };
    expect(handEnd(few, { ...end(), upTo: "" })).toEqual({ due: few, end: end(), followers: ["a", "b"] });
    expect(handEnd(idle, { ...end(), upTo: "" })).toEqual({ due: idle, end: end(), followers: [] });
  });

  test("the older one of two first", () => {
    const { due } = handEnd(first().due, { ...end({ run: "r2" }), upTo: "" });
    expect(due.handed).toMatchObject([
      { run: "r1", upTo: "f19" },
      { run: "r2", upTo: "f19" },
    ]);
    const [older] = due.handed ?? [];
    const next = older && handEnd(due, older);
    expect(next).toMatchObject({ end: { run: "r1" }, due: { handed: [{ upTo: "f39" }, { upTo: "f19" }] } });
  });

  test("also where one is deleted meanwhile, or all are", () => {
    const { due } = first();
    const [left] = due.handed ?? [];
    if (left === undefined) throw new Error("nothing is left");
    const { successors: _, ...none } = due;
    expect(handEnd(none, left)).toEqual({ due: idle, end: end(), followers: [] });
    const rest = { ...due, successors: ["f18", "f30"] };
    expect(handEnd(rest, left).followers).toEqual(["f30"]);
  });

  test("its state survives being stored", () => {
    const { due } = first();
    expect(parseDue(formatDue(due))).toEqual({ value: due });
  });
});
