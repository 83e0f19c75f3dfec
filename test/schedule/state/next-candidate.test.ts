/** Which occurrence of a schedule may start when, depending on overlap, pauses and running occurrences. */
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { DueState, OpenOccurrence } from "../../../src/schedule/state/due.ts";
import { computeReplacementTime, findNextCandidate } from "../../../src/schedule/state/next-candidate.ts";

const NOW = 1_000_000;
const plain: Definition = { cron: "* * * * *", timezone: "UTC" };
const due = (open: OpenOccurrence[] = [], runAt = NOW - 10): DueState => ({ next: NOW - 10, runAt, open });
const opened = (scheduled: number, change: Partial<OpenOccurrence> = {}): OpenOccurrence => ({
  scheduled,
  runAt: scheduled,
  attempt: 1,
  failures: 0,
  kind: "due",
  ...change,
});
const pause = { by: "a@b", at: 0 };

/** `next`, the nominal time of what is open, or nothing. */
function taken(definition: Partial<Definition>, state: DueState, running: number[] = []) {
  const found = findNextCandidate({ ...plain, ...definition }, state, new Set(running), NOW);
  return found && (found.open?.scheduled ?? "next");
}

describe("what may be taken", () => {
  const retrying = [opened(NOW - 90, { runAt: NOW + 500 })];
  const trigger = [opened(NOW - 5, { kind: "trigger" })];
  test.each<[string, Partial<Definition>, DueState, number[], number | "next" | undefined]>([
    ["forbid: not beside one that runs", {}, due([opened(NOW - 90)]), [NOW - 90], undefined],
    ["forbid: one that was lost comes first", {}, due([opened(NOW - 90)]), [], NOW - 90],
    ["forbid: the next waits for one that is tried again", {}, due(retrying), [], NOW - 90],
    ["forbid: a trigger stops nothing", {}, due(trigger), [], "next"],
    ["forbid: a key that cannot be read blocks", {}, due(), [-1], undefined],
    ["allow: beside one that runs", { overlap: "allow" }, due([opened(NOW - 90)]), [NOW - 90], "next"],
    [
      "allow: one that was lost, while another runs",
      { overlap: "allow" },
      due([opened(NOW - 90), opened(NOW - 50)], NOW + 9),
      [NOW - 50],
      NOW - 90,
    ],
    [
      "replace: not before the one that runs has ended",
      { overlap: "replace" },
      due([opened(NOW - 90)]),
      [NOW - 90],
      undefined,
    ],
    [
      "replace: the next takes the place of one that is tried again",
      { overlap: "replace" },
      due(retrying),
      [],
      "next",
    ],
    ["paused: nothing", { pause }, due(), [], undefined],
    ["paused: what was lost neither", { pause }, due([opened(NOW - 90)]), [], undefined],
    ["paused: triggers run", { pause }, due(trigger), [], NOW - 5],
    ["paused by itself: nothing", {}, { ...due(), pause }, [], undefined],
    ["paused by itself: triggers run", {}, { ...due(trigger), pause }, [], NOW - 5],
    ["a pause that is over", { pause: { ...pause, until: NOW } }, due(), [], "next"],
    ["ended", {}, { runAt: 0, open: [] }, [], undefined],
  ])("%s", (_, definition, state, running, expected) => {
    expect(taken(definition, state, running)).toBe(expected);
  });

  test("a pause with an end says when to look again", () => {
    const paused = { ...plain, pause: { ...pause, until: NOW + 700 } };
    expect(findNextCandidate(paused, due(), new Set(), NOW)?.runAt).toBe(NOW + 700);
  });

  test("the one that has been due longest comes first", () => {
    const state = due([opened(NOW - 7, { kind: "trigger" }), opened(NOW - 8, { kind: "trigger" })], NOW - 6);
    expect(taken({}, state)).toBe(NOW - 8);
  });
});

describe("what is replaced", () => {
  const running = NOW - 90;
  const state = due([opened(running)], NOW + 300);
  const later: DueState = { ...state, next: NOW + 300 };
  test("when the next one may run", () => {
    expect(computeReplacementTime({ ...plain, overlap: "replace" }, later, running, NOW)).toBe(NOW + 300);
  });
  test.each<[string, Partial<Definition>, DueState]>([
    ["forbid", {}, later],
    ["allow", { overlap: "allow" }, later],
    ["paused", { overlap: "replace", pause }, later],
    ["a trigger", { overlap: "replace" }, { ...later, open: [opened(running, { kind: "trigger" })] }],
    ["nothing follows", { overlap: "replace" }, { runAt: 0, open: [opened(running)] }],
  ])("not: %s", (_, definition, one) => {
    expect(computeReplacementTime({ ...plain, ...definition }, one, running, NOW)).toBeUndefined();
  });
});
