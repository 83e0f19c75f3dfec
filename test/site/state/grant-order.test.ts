import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createDrainKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { buildClaims, compareClaims, isHolder } from "../../../src/site/state/claims.ts";
import { isClaimReady } from "../../../src/site/state/eviction-preview.ts";
import { buildQueueId, type Snapshot } from "../../../src/site/state/snapshot.ts";
import { buildViewContext, listDrainsOnClaim } from "../../../src/site/state/view-context.ts";
import { computeGrantOrder, removeRunsFrom } from "../../../src/site/state/what-if.ts";

const QUEUES = ["lock x", "lock y", "resource db", "resource net"] as const;
const TOTAL = 3;

/** Runs with tickets in some queues, by age; some hold. */
const anyRuns = fc.array(
  fc.record({
    queues: fc.subarray([...QUEUES], { minLength: 1 }),
    count: fc.integer({ min: 1, max: 4 }),
    isHeld: fc.boolean(),
  }),
  { maxLength: 7 },
);

function buildSnapshot(
  runs: readonly { queues: readonly string[]; count: number; isHeld: boolean }[],
  isDrained: boolean,
) {
  const kvs = runs.flatMap(({ queues, count, isHeld }, at) =>
    queues.map((queue, place) => {
      const letter = "abcdefgh"[at] as string;
      const units = queue.startsWith("lock") ? { count: 1, total: 1 } : { count, total: TOTAL };
      const state = isHeld ? ({ state: "held", grantedAt: NOW } as const) : ({ state: "waiting" } as const);
      return createTicketKey(queue, letter, 10 * at + place + 1, { ...units, ...state });
    }),
  );
  const drain = createDrainKey("lock", "y", { by: "ann@web1" });
  return createSnapshot([...kvs, ...(isDrained ? [drain] : [])]);
}

/** Decides each round anew, from the whole snapshot. */
function computeNaively(snapshot: Snapshot, queueIds: ReadonlySet<string>) {
  const grants: string[] = [];
  for (let [current, round] = [snapshot, 0]; ; round += 1) {
    const claims = [...buildClaims(current).values()]
      .filter(({ entries }) =>
        entries.some(({ queue: { kind, name } }) => queueIds.has(buildQueueId(kind, name))),
      )
      .sort(compareClaims);
    const ready = claims.filter(
      (claim) =>
        !isHolder(claim) &&
        isClaimReady(current, claim) &&
        listDrainsOnClaim(claim, buildViewContext(current, NOW)).length === 0,
    );
    grants.push(...ready.map(({ run }) => `${run} ${round}`));
    const leaving = [...claims.filter(isHolder), ...ready];
    if (leaving.length === 0) return { grants, blocked: claims.map(({ run }) => run) };
    current = removeRunsFrom(current, new Set(leaving.map(({ run }) => run)));
  }
}

test("the order is the one that results when each round is decided anew", () => {
  fc.assert(
    fc.property(anyRuns, fc.boolean(), fc.subarray([...QUEUES]), (runs, isDrained, queues) => {
      const snapshot = buildSnapshot(runs, isDrained);
      const queueIds = new Set(
        queues.map((queue) => {
          const [kind, name] = queue.split(" ") as ["lock" | "resource", string];
          return buildQueueId(kind, name);
        }),
      );
      const { grants, blocked } = computeGrantOrder(snapshot, queueIds, NOW);
      expect({
        grants: grants.map(({ claim, round }) => `${claim.run} ${round}`),
        blocked: blocked.map(({ claim }) => claim.run),
      }).toEqual(computeNaively(snapshot, queueIds));
    }),
    { numRuns: 400 },
  );
});
