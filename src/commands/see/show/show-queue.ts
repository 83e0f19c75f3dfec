import { canonicalizeHost } from "../../../fleet/groups.ts";
import { filterAuditRecords } from "../../../model/detail/detail.ts";
import { listClaimsOnHosts } from "../../../model/detail/host.ts";
import { buildQueueDetail } from "../../../model/detail/queue.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../../../model/explain/explain-text.ts";
import { judgeHostLiveness, type RunnerLiveness } from "../../../model/rows/liveness.ts";
import { buildEmptyQueueRow, buildQueueRow } from "../../../model/rows/queue-row.ts";
import { findNamedQueue, type Snapshot } from "../../../model/snapshot/snapshot.ts";
import { QUEUE_VIEW } from "../../../model/tables/queue-columns.ts";
import { buildViewContext } from "../../../model/views/view-context.ts";
import { isHolding } from "../../../protocol/admission.ts";
import type { QueueKind } from "../../../protocol/keys.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import {
  buildRecentAuditRange,
  QUEUE_COLLECTIONS,
  readEntryLiveness,
  readSnapshotRanges,
  toSingleKeyRange,
} from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";
import { type DetailDocument, toRunnersJson } from "./show-json.ts";

/** Shows a lock or resource. Reads its queue, and the small collections it depends on. */
export async function showQueue(
  context: CommandContext,
  kind: QueueKind,
  name: string,
): Promise<DetailDocument> {
  const { keys, clock } = context;
  const history = kind === "lock" ? [toSingleKeyRange(keys.history(name))] : [];
  const collections = ["resourceConfigs", "groups", "drains", "hosts"] as const;
  const snapshot = await readSnapshotRanges(context, collections, [
    keys.getQueueRange(kind, name),
    ...history,
    buildRecentAuditRange(context),
  ]);
  const queue = findNamedQueue(snapshot, kind, name);
  const entries = queue?.entries ?? [];
  const liveness = await readEntryLiveness(context, [...entries.filter(isHolding), ...entries]);
  const holder = kind === "lock" ? entries.find(isHolding) : undefined;
  const host = holder && (await readHolderHost(context, snapshot, holder, liveness));
  const wall = clock.getWallTime();
  const scene = buildViewContext(snapshot, wall);
  const line = queue === undefined ? buildEmptyQueueRow(kind, name, scene) : buildQueueRow(queue, scene);
  return {
    revision: snapshot.revision,
    detail: buildQueueDetail(snapshot, kind, name, { wall, sessions: liveness, host }),
    document: {
      row: QUEUE_VIEW.toJson(line),
      runners: toRunnersJson(entries, liveness),
      ...(kind === "lock" && { host, history: snapshot.histories.get(name) ?? [] }),
      audit: filterAuditRecords(snapshot.audit, (target) => target === `${kind} ${name}`),
    },
  };
}

/**
 * Judges whether the host of a holder is alive. If the holder's runner or agent renews its session, the host is alive.
 * Otherwise, and only then, all queues are read to check the other runners of the host.
 */
async function readHolderHost(
  context: CommandContext,
  snapshot: Snapshot,
  holder: QueueEntry,
  liveness: SessionLivenessMap,
): Promise<Pick<RunnerLiveness, "verdict" | "text"> | undefined> {
  const { ticket } = holder;
  if (ticket === undefined || ticket.state === "grace") return undefined;
  const name = canonicalizeHost(ticket.host);
  const own = findRunnerLiveness(holder, liveness);
  if (own?.verdict === "alive") return { verdict: "alive", text: "its runner is alive" };
  if (own?.verdict === "agent") return { verdict: "alive", text: "its agent is alive" };
  const all = await readSnapshotRanges(context, QUEUE_COLLECTIONS);
  const others = listClaimsOnHosts(all, new Set([name])).flatMap(({ run, entries: [first] }) =>
    first === undefined || run === holder.run || first.entry.ticket?.state === "grace" ? [] : [first.entry],
  );
  const otherLiveness = await readEntryLiveness(context, others);
  const runners = others.flatMap((entry) => findRunnerLiveness(entry, otherLiveness) ?? []);
  return judgeHostLiveness(snapshot.hosts.get(name), runners, context.clock.getWallTime(), "other runners");
}
