import { describe, expect, it } from "vitest";
import { createDrainKey, createTicketKey, NOW } from "../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../fixtures/state/snapshot-follower.ts";
import { Alerts } from "../../src/console/alerts.ts";
import type { WatchedRow } from "../../src/console/state/watched-rows.ts";
import { toMonotonicTime } from "../../src/core/base/clock.ts";
import type { KeyValue } from "../../src/core/protocol/txn.ts";

/** Reads locks and drains one after the other. @returns what is told of the watched row after so many ms */
function watch(row: WatchedRow) {
  const follower = new SnapshotFollower();
  const alerts = new Alerts();
  let now = 0;
  const check = (after: number, ...kvs: KeyValue[]) => {
    now += after;
    return alerts.check([row], follower.read(...kvs), NOW, toMonotonicTime(now))?.text;
  };
  check(0);
  return check;
}

const LOCK: WatchedRow = { kind: "lock", name: "x" };
const held = createTicketKey("lock x held", "a", 1);
const waiting = createTicketKey("lock x", "b", 2);
const other = createTicketKey("lock x held", "b", 2);

describe("a watched lock", () => {
  it("is told of when it is granted, released, and granted to another", () => {
    const check = watch(LOCK);
    expect([
      check(10_000, held),
      check(10_000, held, waiting),
      check(10_000, other),
      check(10_000),
      check(10_000),
    ]).toEqual([
      "lock x: held by a.example.com, nobody waits",
      "lock x: held by a.example.com, 1 wait",
      "lock x: held by b.example.com, nobody waits",
      "lock x: free, nobody waits",
      undefined,
    ]);
  });

  it("is told of at most once in two seconds; what happened meanwhile is counted", () => {
    const check = watch(LOCK);
    expect([check(10, held), check(500), check(500, other), check(999, other)]).toEqual([
      expect.any(String),
      undefined,
      undefined,
      undefined,
    ]);
    expect(check(1, other)).toMatch(/^2 changes, last: lock x: held by b/);
    expect(check(10_000, other)).toBeUndefined();
  });

  it("is not told of for what happens to other rows", () => {
    expect(watch({ kind: "lock", name: "other" })(10_000, held)).toBeUndefined();
  });
});

it("a watched drain is told of when it begins and when it is lifted", () => {
  const check = watch({ kind: "drain", scope: "host", name: "web1" });
  expect(check(10_000, createDrainKey("host", "web1"))).toMatch("web1: drained");
  expect(check(10_000)).toBe("drain host web1: lifted");
});
