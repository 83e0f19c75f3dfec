import fc from "fast-check";
import { expect, test } from "vitest";
import { computeTurn } from "../../../src/worker/claims/claim-candidate.ts";
import { DeferredSchedules } from "../../../src/worker/dispatch/deferred-schedules.ts";

const WORKER_IDS = ["a", "b", "c"];
const WORKERS_BEFORE = [["a"], ["b"], ["a", "b"], ["a", "b", "c"]] as const;
const SCHEDULE_NAMES = ["one", "two", "three", "four", "five"];

const ANY_STEP = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    name: fc.constantFrom(...SCHEDULE_NAMES),
    before: fc.constantFrom(...WORKERS_BEFORE),
    openFor: fc.integer({ min: 0, max: 12_000 }),
  }),
  fc.record({ kind: fc.constant("delete" as const), name: fc.constantFrom(...SCHEDULE_NAMES) }),
  fc.record({ kind: fc.constant("claim" as const), worker: fc.constantFrom(...WORKER_IDS) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 3_000 }) }),
);

/** Schedules that wait one by one, whose times are computed again whenever they are asked for. */
class SingleSchedules {
  now = 100_000;
  readonly lastClaims = new Map<string, number>();
  readonly waiting = new Map<string, { before: readonly string[]; openSince: number }>();

  readonly computeTurn = (before: readonly string[], openSince: number): number => {
    const lastClaimBefore = Math.max(...before.map((one) => this.lastClaims.get(one) ?? -Infinity));
    return computeTurn(openSince, { rank: before.length, lastClaimBefore });
  };

  isReady(name: string): boolean {
    const one = this.waiting.get(name);
    return one !== undefined && this.computeTurn(one.before, one.openSince) <= this.now;
  }
}

test("a group is taken exactly when one of its schedules may be claimed", () => {
  fc.assert(
    fc.property(fc.array(ANY_STEP, { maxLength: 60 }), (steps) => {
      const single = new SingleSchedules();
      const { waiting } = single;
      const deferred = new DeferredSchedules(single.computeTurn);
      for (const step of steps) {
        if (step.kind === "add") {
          const one = { before: step.before, openSince: single.now - step.openFor };
          waiting.set(step.name, one);
          deferred.add(step.name, one.before, one.openSince);
        } else if (step.kind === "delete") {
          waiting.delete(step.name);
          deferred.delete(step.name);
        } else if (step.kind === "claim") single.lastClaims.set(step.worker, single.now);
        else single.now += step.ms;

        const ready = [...waiting.keys()].filter((name) => single.isReady(name));
        const groups = new Set(ready.map((name) => waiting.get(name)?.before));
        const expected = [...waiting].filter(([, { before }]) => groups.has(before)).map(([name]) => name);
        expect(deferred.take(single.now).toSorted()).toEqual(expected.toSorted());
        for (const name of expected) waiting.delete(name);
      }
      expect(deferred.next === undefined || deferred.next > single.now).toBe(true);
    }),
  );
});

test("while the workers before claim, a schedule is taken after ten seconds and the delay of its rank", () => {
  const single = new SingleSchedules();
  const deferred = new DeferredSchedules(single.computeTurn);
  const start = single.now;
  deferred.add("one", ["a", "b"], start);
  let taken: string[] = [];
  for (; taken.length === 0; single.now += 100) {
    single.lastClaims.set("b", single.now);
    taken = deferred.take(single.now);
  }
  expect([taken, single.now - 100 - start]).toEqual([["one"], 12_000]);
});
