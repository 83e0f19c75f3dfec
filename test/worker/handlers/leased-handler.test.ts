import { describe, expect, test } from "vitest";
import { createTask } from "../../../fixtures/worker/handler-fixture.ts";
import { toMonotonicTime } from "../../../src/core/base/clock.ts";
import { EXIT, SignalboxError } from "../../../src/core/base/errors.ts";
import { silentLog } from "../../../src/core/base/log.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { createMacros } from "../../../src/core/fleet/macros.ts";
import { OldSchemaError } from "../../../src/core/protocol/schema.ts";
import type { ScheduledTask, TaskResult } from "../../../src/worker/handler.ts";
import { createLeasedHandler } from "../../../src/worker/handlers/leased-handler.ts";

const macros = createMacros({ fqdn: "web1.example.com", host: "web1", cpu: 4, memMb: 1_000, macros: {} });

/** What a task used. */
const USED = { leases: { db: 1 }, waited: 1_500 };

/** Runs a task on leases, each of which takes 1.5 s. @param acquire  undefined grants them */
async function runLeased(
  leases: string[],
  acquire?: () => unknown,
  act: (held: TestLeases) => void = () => {},
) {
  const held = new TestLeases();
  const asked: { resource: string; count: number }[] = [];
  const units: number[] = [];
  const acquirer = {
    macros,
    log: silentLog,
    clock: { now: () => toMonotonicTime(asked.length * 1_500) },
    acquire: async (specs: readonly { resource: string; count: number }[]) => {
      asked.push(...specs.map(({ resource, count }) => ({ resource, count })));
      await acquire?.();
      return held;
    },
  };
  let seen: ScheduledTask | undefined;
  const inner = {
    run: async (task: ScheduledTask): Promise<TaskResult> => {
      seen = task;
      act(held);
      return { result: "ok" };
    },
  };
  const task = createTask({ leases });
  const handler = createLeasedHandler(acquirer, inner, (change) => units.push(change));
  return { result: await handler.run(task), held, asked, units, seen, task };
}

class TestLeases {
  readonly listeners = new Set<() => void>();
  readonly signal = new AbortController().signal;
  releases = 0;
  releaseError: Error | undefined;

  getHorizon() {
    return toMonotonicTime(5);
  }

  onExtended(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async release() {
    this.releases += 1;
    if (this.releaseError !== undefined) throw this.releaseError;
  }
}

test("runs the task while it holds the leases, and counts their units", async () => {
  const { result, asked, units, held } = await runLeased(["db=2:10", "mem=CPU:16"]);
  expect(result).toEqual({ result: "ok", leases: { db: 2, mem: 4 }, waited: 3_000 });
  expect(asked).toEqual([
    { resource: "db", count: 2 },
    { resource: "mem", count: 4 },
  ]);
  expect([units, held.releases]).toEqual([[6, -6], 1]);
});

describe("without its leases the task does not run", () => {
  const fail = (error: unknown) => () => {
    throw error;
  };
  test.each([
    ["they were not granted in time", ["db=1:2"], fail(new SignalboxError(EXIT.busy, "busy")), "released"],
    ["etcd does not answer", ["db=1:2"], fail(new StoreError("unavailable", "cut")), "released"],
    ["more than there are", ["db=1:2"], fail(new SignalboxError(EXIT.config, "too many")), "failed"],
    ["a defect", ["db=1:2"], fail(new Error("defect")), "failed"],
    ["no error", ["db=1:2"], fail("words"), "failed"],
  ])("%s", async (_, leases, acquire, expected) => {
    const { result, seen, units } = await runLeased(leases, acquire);
    expect(result.result).toBe(expected);
    expect(result.wait).toBe(expected === "released" ? 30_000 : undefined);
    expect([seen, units]).toEqual([undefined, []]);
  });
});

test("gives the task back for a while when this program is too old to claim leases: a newer worker can run it", async () => {
  const { result, seen } = await runLeased(["db=1:2"], () => {
    throw new OldSchemaError("too old");
  });
  expect(result).toEqual({ result: "released", wait: 30_000, reason: "too old" });
  expect(seen).toBeUndefined();
});

test("the earlier horizon counts, and both tell that it has moved", async () => {
  const { seen, held, task } = await runLeased(["db=1:2"]);
  expect(seen?.getHorizon()).toBe(5);
  let moves = 0;
  const stop = seen?.onExtended(() => {
    moves += 1;
  });
  task.extend(60_000);
  for (const listener of held.listeners) listener();
  expect(moves).toBe(2);
  stop?.();
  task.extend(60_000);
  expect([moves, held.listeners.size]).toEqual([2, 0]);
});

test("leases that cannot be released are left to expire", async () => {
  const { result } = await runLeased(["db=1:2"], undefined, (held) => {
    held.releaseError = new Error("cut");
  });
  expect(result).toEqual({ result: "ok", ...USED });
});
