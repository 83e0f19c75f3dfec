/**
 * Leaders of etcd stand still for longer than the sessions of workers while schedules fire, also on every host and after the last
 * end. What a former leader then revokes was renewed under its successor. No occurrence is lost, and none runs twice at a time.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findViolations, playChaos } from "../../../fixtures/schedule/chaos.ts";
import { SEED } from "../../../fixtures/test-seed.ts";

const TTL = 3;
const cluster = TestCluster.startForFile({ size: 3 });

let stops = 0;

/** Stops the leader for longer than the time to live, again and again. */
async function stopLeaders(signal: AbortSignal) {
  stops = 0;
  while (!signal.aborted) {
    await pause(1_500, undefined, { signal }).catch(() => {});
    const statuses = await cluster.store.readMemberStatuses();
    const leader = statuses.find((one) => one.ok)?.leaderId;
    const at = statuses.findIndex((one) => one.ok && one.memberId === leader);
    if (at < 0 || signal.aborted) continue;
    cluster.getMember(at).freeze();
    stops += 1;
    await pause((TTL + 2) * 1_000, undefined, { signal }).catch(() => {}); // the fault itself
    cluster.getMember(at).unfreeze();
  }
}

test("a leader that stands still loses no occurrence, and doubles none", async () => {
  const report = await playChaos({
    endpoints: [...cluster.endpoints],
    store: cluster.store,
    schedules: 30,
    steps: 12,
    workers: 3,
    ttl: TTL,
    seed: SEED,
    disturbEtcd: stopLeaders,
  });
  expect(findViolations(report), report.complaints).toEqual([]);
  expect(stops).toBeGreaterThan(0);
  expect(report.occurrences.some((one) => one.startsWith("e0@host1"))).toBe(true);
}, 240_000);
