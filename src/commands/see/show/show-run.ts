import { filterAuditRecords } from "../../../model/detail/detail.ts";
import { buildRunDetail } from "../../../model/detail/run.ts";
import { explain } from "../../../model/explain/explain.ts";
import { buildClaims, type Claim, formatTicketOwner } from "../../../model/snapshot/claims.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import { buildViewContext } from "../../../model/views/view-context.ts";
import { findOnlyClaim } from "../../find-only-claim.ts";
import {
  buildRecentAuditRange,
  QUEUE_COLLECTIONS,
  readEntryLiveness,
  readSnapshotRanges,
  retryCompacted,
  throwUnknownName,
} from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";
import { type DetailDocument, toClaimRow, toExplanationJson, toRunnerJson } from "./show-json.ts";
import { addHistories, listConcernedEntries } from "./why-snapshot.ts";

/** Shows a run. Reads all queues, because its tickets may be in any of them. */
export async function showRun(context: CommandContext, word: string): Promise<DetailDocument> {
  const { picture: snapshot, claim } = await retryCompacted(async () => {
    const all = await readSnapshotRanges(context, QUEUE_COLLECTIONS, [buildRecentAuditRange(context)]);
    const found = findRun(all, word);
    return { picture: await addHistories(context, all, [found]), claim: found };
  });
  const wall = context.clock.getWallTime();
  const explanation = explain(snapshot, claim, wall);
  const own = claim.entries.map(({ entry }) => entry);
  const liveness = await readEntryLiveness(context, [...own, ...listConcernedEntries([explanation])]);
  return {
    revision: snapshot.revision,
    detail: buildRunDetail(snapshot, claim, { wall, sessions: liveness }),
    document: {
      row: toClaimRow(claim, buildViewContext(snapshot, wall)),
      runner: own[0] && toRunnerJson(own[0], liveness),
      why: toExplanationJson(explanation, liveness),
      audit: filterAuditRecords(snapshot.audit, (target) => target === `run ${claim.run}`),
    },
  };
}

/** @throws SignalboxError 1 if no run matches, or several do */
function findRun(snapshot: Snapshot, word: string): Claim {
  const claims = buildClaims(snapshot);
  const claim = findOnlyClaim(word, claims);
  return claim ?? throwUnknownName("run", word, listNames(claims), ", or it has ended");
}

function* listNames(claims: ReadonlyMap<string, Claim>): Generator<string> {
  for (const { run, entries } of claims.values()) {
    yield run;
    if (entries[0] !== undefined) yield formatTicketOwner(entries[0].entry);
  }
}
