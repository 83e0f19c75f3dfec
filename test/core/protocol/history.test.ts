import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, createPastRun } from "../../../fixtures/protocol/samples.ts";
import {
  appendPastRun,
  HISTORY_LENGTH,
  type PastRun,
  parsePastRuns,
} from "../../../src/core/protocol/history.ts";

/** The history after these runs, one after the other. */
const after = (runs: readonly PastRun[], text?: string) =>
  runs.reduce<string | undefined>(appendPastRun, text);

test("a history remembers the last runs, the newest first", () => {
  expect(HISTORY_LENGTH).toBe(20);
  fc.assert(
    fc.property(fc.nat(45), (count) => {
      const runs = Array.from({ length: count }, (_, i) => createPastRun(`r${i}`, { exit: i }));
      expect(parsePastRuns(after(runs))).toEqual(runs.toReversed().slice(0, 20));
      expect(JSON.parse(after(runs) ?? '{"runs":[]}').runs).toHaveLength(Math.min(count, 20));
    }),
  );
});

test("labels and reasons are kept, and fields of later versions", () => {
  const run = { ...createPastRun("r", { label: "nightly", reason: "reset by op" }), later: [1] };
  expect(parsePastRuns(after([run]))).toEqual([run]);
});

test("only the newest run and the newest failed one keep the end of their output", () => {
  const exits = [1, 0, 2, 0, 0];
  const runs = exits.map((exit, i) => createPastRun(`r${i}`, { exit, tail: `output ${i}` }));
  const tails = parsePastRuns(after(runs)).map(({ tail }) => tail);
  expect(tails).toEqual(["output 4", undefined, "output 2", undefined, undefined]);
  const silent = parsePastRuns(after([...runs, createPastRun("silent")])).map(({ tail }) => tail);
  expect(silent).toEqual([undefined, "output 4", undefined, "output 2", undefined, undefined]);
});

describe("what cannot be read", () => {
  test.each([
    "",
    "{",
    "null",
    "4",
    '"x"',
    "[]",
    "{}",
    '{"runs":null}',
    '{"runs":{"length":3}}',
    '{"runs":[null,4,[]]}',
  ])("%j counts as no history, and the next one replaces it", (text) => {
    expect(parsePastRuns(text)).toEqual([]);
    expect(parsePastRuns(appendPastRun(text, createPastRun("r")))).toEqual([createPastRun("r")]);
  });

  test.each([
    ["run", [undefined, 4, null]],
    ["host", [undefined, {}]],
    ["command", [undefined, []]],
    ["token", [undefined, 12]],
    ["label", [4, null, {}]],
    ["reason", [4, null, {}]],
    ["pid", [undefined, "4"]],
    ["enqueuedAt", [undefined, null]],
    ["grantedAt", [undefined, "x"]],
    ["endedAt", [undefined, true]],
    ["waited", [undefined, null]],
    ["held", [undefined, "3"]],
    ["exit", [undefined, null]],
  ])("a run whose %s is one of %j is left out, its neighbours stay", (field, values) => {
    for (const value of values) {
      const runs = [createPastRun("a"), { ...createPastRun("b"), [field]: value }, createPastRun("c")];
      expect(parsePastRuns(JSON.stringify({ v: 1, runs })).map(({ run }) => run)).toEqual(["a", "c"]);
    }
  });

  test("a history longer than ours is cut when it is read", () => {
    const runs = Array.from({ length: 50 }, (_, i) => createPastRun(`r${i}`));
    expect(parsePastRuns(JSON.stringify({ v: 1, runs }))).toHaveLength(HISTORY_LENGTH);
  });

  test("whatever the text, reading and appending never throw and keep to the measure", () => {
    const text = fc.oneof(
      fc.json(),
      bytes,
      fc.array(fc.jsonValue()).map((runs) => JSON.stringify({ runs })),
    );
    fc.assert(
      fc.property(text, (old) => {
        const runs = parsePastRuns(appendPastRun(old, createPastRun("new")));
        expect(JSON.parse(appendPastRun(old, createPastRun("new"))).runs.length).toBeLessThanOrEqual(
          HISTORY_LENGTH,
        );
        expect(runs[0]).toEqual(createPastRun("new"));
        expect(runs.slice(1)).toEqual(parsePastRuns(old).slice(0, HISTORY_LENGTH - 1));
      }),
    );
  });

  test("no history at all is an empty one", () => {
    expect(parsePastRuns(undefined)).toEqual([]);
  });
});

test("a history of a size that signalbox does not write is not read, and the next run replaces it", () => {
  const huge = JSON.stringify({
    v: 1,
    runs: [createPastRun("r"), createPastRun("s", { label: "x".repeat(300_000) })],
  });
  expect(parsePastRuns(huge)).toEqual([]);
  expect(parsePastRuns(appendPastRun(huge, createPastRun("t")))).toEqual([createPastRun("t")]);
});

test("many leases with long names are kept of the newest runs only: one transaction writes 16 histories", () => {
  const leases = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}`.padEnd(250, "x"), 1]));
  const text = after(Array.from({ length: 30 }, (_, i) => createPastRun(`r${i}`, { leases }))) ?? "";
  expect(text.length).toBeLessThan(25 * 1024);
  const [newest, ...others] = parsePastRuns(text);
  expect(newest?.leases).toEqual(leases);
  expect(others).toHaveLength(HISTORY_LENGTH - 1);
  const few = Array.from({ length: 20 }, (_, i) => createPastRun(`r${i}`, { leases: { db: 1, cpu: 4 } }));
  expect(parsePastRuns(after(few))).toEqual(few.toReversed());
});
