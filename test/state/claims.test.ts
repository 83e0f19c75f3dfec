import { expect, test } from "vitest";
import { toQueueEntry } from "../../src/protocol/ticket.ts";
import { buildClaims, findClaim } from "../../src/state/claims.ts";
import { buildQueueId, type NamedQueue } from "../../src/state/snapshot.ts";

const buildQueue = (kind: NamedQueue["kind"], name: string, runs: readonly string[]): NamedQueue => ({
  kind,
  name,
  entries: runs.map((run, at) =>
    toQueueEntry({
      key: `/signalbox/${kind}s/${name}/${run}`,
      value: "",
      session: 1n,
      createRevision: BigInt(at + 1),
      modRevision: BigInt(at + 1),
    }),
  ),
});

test("the claim of one run is the one among all claims, with all its tickets", () => {
  const all = [
    buildQueue("lock", "a", ["run1", "run2"]),
    buildQueue("lock", "b", ["run3"]),
    buildQueue("resource", "db", ["run2", "run3", "run4"]),
  ];
  const queues = new Map(all.map((queue) => [buildQueueId(queue.kind, queue.name), queue]));
  const claims = buildClaims({ queues });
  expect([...claims.keys()].toSorted()).toEqual(["run1", "run2", "run3", "run4"]);
  for (const [run, claim] of claims) expect(findClaim({ queues }, run)).toEqual(claim);
  expect(findClaim({ queues }, "run2")?.entries).toHaveLength(2);
  expect(findClaim({ queues }, "run9")).toBeUndefined();
});
