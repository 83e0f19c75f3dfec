import { canonicalizeHost } from "../../../fleet/groups.ts";
import { filterAuditRecords } from "../../../model/detail/detail.ts";
import { buildGroupDetail, findGroupState, spreadOverHosts } from "../../../model/detail/group.ts";
import {
  buildHostDetail,
  findHostState,
  isAboutHost,
  judgeHostByClaims,
} from "../../../model/detail/host.ts";
import { type Claim, findClaimHost } from "../../../model/snapshot/claims.ts";
import type { Collection, Snapshot } from "../../../model/snapshot/snapshot.ts";
import { toDrainJson } from "../../../model/tables/cells.ts";
import { VIEWS, type ViewId } from "../../../model/tables/index.ts";
import type { ViewContext } from "../../../model/views/view.ts";
import { buildViewContext } from "../../../model/views/view-context.ts";
import {
  buildRecentAuditRange,
  QUEUE_COLLECTIONS,
  readEntryLiveness,
  readSnapshotRanges,
  throwUnknownName,
} from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";
import { type DetailDocument, toClaimRow, toRunnersJson } from "./show-json.ts";

const COLLECTIONS: readonly Collection[] = [...QUEUE_COLLECTIONS, "hosts"];

/**
 * Shows a host. Reads all queues, because its runs may be in any of them.
 * @throws SignalboxError 1 if nothing names the host
 */
export async function showHost(context: CommandContext, name: string): Promise<DetailDocument> {
  const snapshot = await readSnapshotRanges(context, COLLECTIONS, [buildRecentAuditRange(context)]);
  const sight = findHostState(snapshot, name, context.clock.getWallTime());
  if (sight === undefined) return throwUnknownName("host", name, snapshot.hosts.keys());
  const entries = listFirstEntries(sight.claims);
  const liveness = await readEntryLiveness(context, entries);
  const wall = context.clock.getWallTime();
  const scene = buildViewContext(snapshot, wall);
  // A host that only a drain names is not in the listing of hosts.
  const drains = sight.drains.map(toDrainJson);
  const bare = { host: sight.name, holds: 0, waits: 0, groups: [], drains, agents: [] };
  return {
    revision: snapshot.revision,
    detail: buildHostDetail(snapshot, sight, { wall, sessions: liveness }),
    document: {
      row: findRowJson(snapshot, "hosts", sight.name, scene) ?? bare,
      alive: judgeHostByClaims(sight, { wall, sessions: liveness }),
      runs: sight.claims.map((claim) => toClaimRow(claim, scene)),
      runners: toRunnersJson(entries, liveness),
      audit: filterAuditRecords(snapshot.audit, (target) => isAboutHost(target, sight.name)),
    },
  };
}

/** Shows a group and the runs on its hosts. @throws SignalboxError 1 if it does not exist */
export async function showGroup(context: CommandContext, name: string): Promise<DetailDocument> {
  const snapshot = await readSnapshotRanges(context, COLLECTIONS, [buildRecentAuditRange(context)]);
  const sight = findGroupState(snapshot, name, context.clock.getWallTime());
  if (sight === undefined) return throwUnknownName("group", name, snapshot.groups.keys());
  const liveness = await readEntryLiveness(context, listFirstEntries(spreadOverHosts(sight.claims)));
  const wall = context.clock.getWallTime();
  const scene = buildViewContext(snapshot, wall);
  const byHost = Map.groupBy(sight.claims, findClaimHost);
  return {
    revision: snapshot.revision,
    detail: buildGroupDetail(snapshot, sight, { wall, sessions: liveness }),
    document: {
      row: findRowJson(snapshot, "groups", name, scene),
      parents: sight.parents,
      drains: sight.drains.map(toDrainJson),
      hosts: sight.hosts.map((host) => {
        const claims = byHost.get(canonicalizeHost(host)) ?? [];
        const record = snapshot.hosts.get(canonicalizeHost(host));
        return {
          host,
          seenAt: record?.seenAt,
          ...judgeHostByClaims({ record, claims }, { wall, sessions: liveness }),
        };
      }),
      runs: sight.claims.map((claim) => toClaimRow(claim, scene)),
      audit: filterAuditRecords(snapshot.audit, (target) => target === `group ${name}`),
    },
  };
}

/** Returns one ticket of each run: all tickets of a run have the same session. */
function listFirstEntries(claims: readonly Claim[]) {
  return claims.flatMap(({ entries: [first] }) => (first === undefined ? [] : [first.entry]));
}

/** Returns one row of a view as JSON. */
function findRowJson(snapshot: Snapshot, id: ViewId, key: string, scene: ViewContext): object | undefined {
  const view = VIEWS[id];
  const rows = view.of === "picture" ? view.buildRows(snapshot, scene) : [];
  const row = rows.find((one) => view.getKey(one) === key);
  return row === undefined ? undefined : view.toJson(row);
}
