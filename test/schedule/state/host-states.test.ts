import { expect, test } from "vitest";
import { formatHostResults } from "../../../src/cli/views/schedules.ts";
import type { DueState, LastOccurrence } from "../../../src/schedule/state/due.ts";
import { listStates, mergeHostStates } from "../../../src/schedule/state/host-states.ts";

const last = (result: LastOccurrence["result"], endedAt: number): LastOccurrence => ({
  scheduled: 1,
  startedAt: 1,
  endedAt,
  late: 0,
  result,
  run: `run-${endedAt}`,
});
const state = (change: Partial<DueState> = {}): DueState => ({ next: 100, runAt: 100, open: [], ...change });
const merge = (hosts: Record<string, DueState>) => mergeHostStates(undefined, new Map(Object.entries(hosts)));
const results = (...list: (LastOccurrence["result"] | undefined)[]) =>
  formatHostResults(
    merge(
      Object.fromEntries(
        list.map((result, n) => [
          `web${n + 1}`,
          state(result === undefined ? {} : { last: last(result, n + 1) }),
        ]),
      ),
    ),
  );

test("counts the hosts whose last run succeeded, and names one that did not", () => {
  expect(results("ok", "ok")).toBe("2 ok");
  expect(results("ok", "ok", "failed")).toBe("2 of 3 ok, web3 failed");
  expect(results("failed", "ok", "timeout", "lost")).toBe("1 of 4 ok, web1 failed and 2 more");
  expect(results("ok", undefined)).toBe("1 of 2 ok");
  expect(results(undefined, undefined)).toBeUndefined();
});

test("is due when the host is that is furthest, and shows the newest failure, else the newest result", () => {
  const merged = merge({
    web1: state({ next: 300, runAt: 310, last: last("ok", 9), succeededAt: 9, dead: 2 }),
    web2: state({ next: 200, runAt: 210, last: last("failed", 5), succeededAt: 3, dead: 1 }),
    web3: state({ next: 400, runAt: 400 }),
  });
  expect(merged).toMatchObject({ next: 400, runAt: 400, dead: 3, succeededAt: 3, last: { endedAt: 5 } });
  expect(
    merge({ web1: state({ last: last("ok", 4) }), web2: state({ last: last("ok", 7) }) }).last?.endedAt,
  ).toBe(7);
});

test("has not succeeded while one of the hosts that ran it never has", () => {
  const hosts = {
    web1: state({ last: last("ok", 9), succeededAt: 9 }),
    web2: state({ last: last("failed", 5) }),
  };
  expect(merge(hosts).succeededAt).toBeUndefined();
});

test("is paused by itself when it is so on each host", () => {
  const pause = { by: "signalbox", at: 1 };
  expect(merge({ web1: state({ pause }), web2: state() }).pause).toBeUndefined();
  expect(merge({ web1: state({ pause }), web2: state({ pause }) }).pause).toEqual(pause);
});

test("lists the states of the hosts, or the only one", () => {
  const single = state();
  expect(listStates(single)).toEqual([[undefined, single]]);
  expect(listStates(merge({ web1: single }))).toEqual([["web1", single]]);
  expect(listStates(undefined)).toEqual([]);
});
