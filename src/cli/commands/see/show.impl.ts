import type { WallTime } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { canonicalizeHost } from "../../../core/base/text.ts";
import { isHolding } from "../../../core/protocol/admission.ts";
import type { QueueKind } from "../../../core/protocol/keys.ts";
import { validateName } from "../../../core/protocol/names.ts";
import type { QueueEntry } from "../../../core/protocol/ticket.ts";
import { toSingleKeyRange } from "../../../core/protocol/txn.ts";
import { NO_OUTCOMES } from "../../../schedule/state/outcome.ts";
import { load, type Sink } from "../../../site/observe/read.ts";
import { type Claim, type ClaimIndex, followClaims } from "../../../site/state/claims.ts";
import { explain, findRunnerLiveness, type SessionLivenessMap } from "../../../site/state/explain.ts";
import type { RunnerLiveness } from "../../../site/state/liveness.ts";
import { computeResourceUse } from "../../../site/state/resource-use.ts";
import { isTemplate } from "../../../site/state/shares.ts";
import { type Collection, findNamedQueue, type Snapshot } from "../../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../site/state/snapshot-builder.ts";
import type { ViewContext } from "../../../site/state/view-context.ts";
import { buildViewContext, CONTEXT_COLLECTIONS } from "../../../site/state/view-context.ts";
import { printResult } from "../../frame/json-output.ts";
import {
  buildRecentAuditRange,
  createReadCommand,
  findOnlyClaim,
  QUEUE_COLLECTIONS,
  readEntryLiveness,
  readSnapshotRanges,
  retryCompacted,
  throwUnknownName,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { formatTicketOwner } from "../../views/claims.ts";
import { filterAuditRecords } from "../../views/detail.ts";
import { DRAIN_JSON } from "../../views/drains.ts";
import { buildGroupDetail, findGroupState, spreadOverHosts } from "../../views/groups.ts";
import {
  buildHostDetail,
  computeHostActivity,
  findClaimsOnHosts,
  findHostState,
  isAboutHost,
  judgeHostByClaims,
  judgeHostLiveness,
  NO_ACTIVITY,
} from "../../views/hosts.ts";
import { VIEWS, type ViewId } from "../../views/index.ts";
import { macrosView } from "../../views/macros.ts";
import {
  buildEmptyQueueRow,
  buildQueueDetail,
  buildQueueRow,
  createTallyFinder,
  findPastUses,
  findUseSpan,
  QUEUE_VIEW,
} from "../../views/queues.ts";
import { buildRunDetail } from "../../views/runs.ts";
import { buildScheduleDetail, isAboutSchedule } from "../../views/schedules.ts";
import { findUnknownNameNote } from "../drain-target.ts";
import { renderDetailText } from "./detail.ts";
import { detectOutputStyle } from "./paint.ts";
import type { ShowFlags } from "./show.ts";
import {
  addHistories,
  type DetailDocument,
  listConcernedEntries,
  makeClaimRows,
  toClaimRow,
  toExplanationJson,
  toRunnerJson,
  toRunnersJson,
} from "./show-json.ts";
import { printRawKeys } from "./show-raw.ts";

export const execute = createReadCommand<ShowFlags>(async (context) => {
  const { raw, revisions } = context.flags;
  if (raw) return await printRawKeys(context, revisions ?? 0);
  if (revisions !== undefined)
    throw new UsageError("--revisions needs --raw: it prints earlier values of keys");
  const [kind = "", name = ""] = context.args;
  const { revision, createDetail, createDocument } = await readDetail(context, kind, name);
  const style = detectOutputStyle(context.io);
  const formatText = () => `${renderDetailText(createDetail(), style).join("\n")}\n`;
  printResult(context, { revision, kind, ...createDocument() }, formatText);
});

/** Reads the details of an object. @throws SignalboxError 1 if it does not exist; UsageError, StoreError */
export function readDetail(context: CommandContext, kind: string, name: string): Promise<DetailDocument> {
  if (kind === "lock" || kind === "resource") return showQueue(context, kind, validateName(kind, name));
  if (kind === "host") return showHost(context, name);
  if (kind === "schedule") return showSchedule(context, validateName(kind, name));
  if (kind === "group") return showGroup(context, name);
  return showRun(context, name);
}

const COLLECTIONS: readonly Collection[] = [...QUEUE_COLLECTIONS, "runnings", "hosts", "workers"];

/**
 * Shows a host. Reads all queues, because its runs may be in any of them.
 * @throws SignalboxError 1 if nothing names the host
 */
async function showHost(context: CommandContext, name: string): Promise<DetailDocument> {
  const snapshot = await readSnapshotRanges(context, COLLECTIONS, [buildRecentAuditRange(context)]);
  const state = findHostState(snapshot, name, context.clock.getWallTime());
  if (state === undefined) return throwUnknownName("host", name, snapshot.hosts.keys());
  const entries = listFirstEntries(state.claims);
  const liveness = await readEntryLiveness(context, entries);
  const wall = context.clock.getWallTime();
  const viewContext = buildViewContext(snapshot, wall);
  // A host that only a drain names is not in the listing of hosts.
  const drains = state.drains.map(DRAIN_JSON.toJson);
  const bare = { host: state.name, holds: 0, waits: 0, groups: [], drains, agents: [] };
  return {
    revision: snapshot.revision,
    createDetail: () => buildHostDetail(snapshot, state, { wall, sessions: liveness }),
    createDocument: () => ({
      row: findRowJson(snapshot, "hosts", state.name, viewContext) ?? bare,
      alive: judgeHostByClaims(state, { wall, sessions: liveness }),
      runs: makeClaimRows(state.claims, viewContext),
      runners: toRunnersJson(entries, liveness),
      audit: filterAuditRecords(snapshot.audit, (target) => isAboutHost(target, state.name)),
    }),
  };
}

/** Shows a group and the runs on its hosts. @throws SignalboxError 1 if it does not exist */
async function showGroup(context: CommandContext, name: string): Promise<DetailDocument> {
  const snapshot = await readSnapshotRanges(context, COLLECTIONS, [buildRecentAuditRange(context)]);
  const state = findGroupState(snapshot, name, context.clock.getWallTime());
  if (state === undefined) return throwUnknownName("group", name, snapshot.groups.keys());
  const liveness = await readEntryLiveness(context, listFirstEntries(spreadOverHosts(state.claims)));
  const wall = context.clock.getWallTime();
  const viewContext = buildViewContext(snapshot, wall);
  return {
    revision: snapshot.revision,
    createDetail: () => buildGroupDetail(snapshot, state, { wall, sessions: liveness }),
    createDocument: () => {
      const activities = computeHostActivity(snapshot);
      return {
        row: findRowJson(snapshot, "groups", name, viewContext),
        parents: state.parents,
        drains: state.drains.map(DRAIN_JSON.toJson),
        hosts: state.hosts.map((host) => {
          const name = canonicalizeHost(host);
          const claims = state.claims.get(name) ?? [];
          const record = snapshot.hosts.get(name);
          const activity = activities.get(name) ?? NO_ACTIVITY;
          return {
            host,
            seenAt: record?.seenAt,
            ...judgeHostByClaims({ record, claims, activity }, { wall, sessions: liveness }),
          };
        }),
        runs: makeClaimRows([...state.claims.values()].flat(), viewContext),
        audit: filterAuditRecords(snapshot.audit, (target) => target === `group ${name}`),
      };
    },
  };
}

/** Returns one ticket of each run: all tickets of a run have the same session. */
function listFirstEntries(claims: readonly Claim[]) {
  return claims.flatMap(({ entries: [first] }) => (first === undefined ? [] : [first.entry]));
}

function findRowJson(
  snapshot: Snapshot,
  id: ViewId,
  key: string,
  viewContext: ViewContext,
): object | undefined {
  const view = VIEWS[id];
  const rows = view.of === "snapshot" ? view.buildRows(snapshot, viewContext) : [];
  const row = rows.find((one) => view.getKey(one) === key);
  return row === undefined ? undefined : view.json.toJson(row);
}

/** Shows a lock or resource. Reads its queue, and the small collections it depends on. */
async function showQueue(context: CommandContext, kind: QueueKind, name: string): Promise<DetailDocument> {
  const { clock } = context;
  const snapshot =
    kind === "lock"
      ? await readQueueSnapshot(context, kind, name)
      : await retryCompacted(async () =>
          addPastUses(context, await readQueueSnapshot(context, kind, name), name),
        );
  const queue = findNamedQueue(snapshot, kind, name);
  const entries = queue?.entries ?? [];
  const liveness = await readEntryLiveness(context, [...entries.filter(isHolding), ...entries]);
  const holder = kind === "lock" ? entries.find(isHolding) : undefined;
  const host = holder && (await readHolderHost(context, snapshot, holder, liveness));
  const wall = clock.getWallTime();
  const viewContext = buildViewContext(snapshot, wall);
  const line =
    queue === undefined
      ? buildEmptyQueueRow(kind, name, viewContext, createTallyFinder(snapshot))
      : buildQueueRow(queue, viewContext);
  const hasUnits = kind === "resource" && (line.total ?? findPastUses(snapshot, name)[0]) !== undefined;
  const note = hasUnits ? undefined : await findUnknownNameNote(context, snapshot, { scope: kind, name });
  if (note !== undefined) context.printMessage(`note: ${note}`);
  return {
    revision: snapshot.revision,
    createDetail: () => ({
      ...buildQueueDetail(snapshot, kind, name, { wall, sessions: liveness, host }),
      ...(note !== undefined && { heading: `${kind} ${name}: unknown` }),
    }),
    createDocument: () => ({
      row: QUEUE_VIEW.json.toJson(line),
      runners: toRunnersJson(entries, liveness),
      ...(kind === "lock"
        ? { host, history: snapshot.histories.get(name) ?? [] }
        : describeUse(snapshot, name, entries, wall)),
      audit: filterAuditRecords(snapshot.audit, (target) => target === `${kind} ${name}`),
    }),
  };
}

/**
 * Adds the histories of locks and schedules that name a resource: they tell what runs and tasks used of it. The others are neither parsed
 * nor kept: there may be 10,000 of them.
 */
async function addPastUses(context: CommandContext, snapshot: Snapshot, name: string): Promise<Snapshot> {
  if (context.followedSnapshot !== undefined) return snapshot; // it has them
  const { keys, signal } = context;
  const ranges = [keys.histories(), keys.outcomeHistories()];
  const builder = new SnapshotBuilder(keys, [], ranges);
  const field = `${JSON.stringify(name)}:`;
  const sink: Sink = {
    ranges,
    begin: () => builder.begin(),
    add: (kv) => {
      if (kv.value.includes(field)) builder.add(kv);
    },
    finish: (revision) => builder.finish(revision),
  };
  await load(context, sink, { signal, revision: snapshot.revision });
  const { histories, outcomes } = builder.getSnapshot();
  return { ...snapshot, histories, outcomes };
}

/** Number of parts of the time in the JSON. */
const USE_STEPS = 24;

/** Describes the use of a resource as JSON. */
function describeUse(
  snapshot: Snapshot,
  name: string,
  entries: readonly QueueEntry[],
  wall: WallTime,
): object {
  const history = findPastUses(snapshot, name);
  const span = findUseSpan(history, wall);
  const { steps: held, waiting, peak, average } = computeResourceUse(history, entries, span, USE_STEPS);
  return { history, use: { ...span, held, waiting, peak, average } };
}

/** Reads a queue and what it depends on. A resource with host macros in its name depends on those of all hosts. */
async function readQueueSnapshot(context: CommandContext, kind: QueueKind, name: string): Promise<Snapshot> {
  const { keys } = context;
  const audits = buildRecentAuditRange(context);
  const history = kind === "lock" ? [toSingleKeyRange(keys.history(name))] : [];
  const around = kind === "lock" ? CONTEXT_COLLECTIONS : macrosView.collections;
  const small = around.filter((collection) => collection !== "resources");
  const snapshot = await readSnapshotRanges(context, small, [
    keys.getQueueRange(kind, name),
    ...history,
    audits,
  ]);
  if (kind === "lock" || !isTemplate(snapshot, name)) return snapshot;
  return await readSnapshotRanges(context, around, [audits]);
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
  const others = (findClaimsOnHosts(all, [name]).get(name) ?? []).flatMap(({ run, entries: [first] }) =>
    first === undefined || run === holder.run || first.entry.ticket?.state === "grace" ? [] : [first.entry],
  );
  const otherLiveness = await readEntryLiveness(context, others);
  const runners = others.flatMap((entry) => findRunnerLiveness(entry, otherLiveness) ?? []);
  return judgeHostLiveness(snapshot.hosts.get(name), runners, context.clock.getWallTime(), "other runners");
}

/** Shows a run. Reads all queues, because its tickets may be in any of them. */
async function showRun(context: CommandContext, word: string): Promise<DetailDocument> {
  const { snapshot, claim } = await retryCompacted(async () => {
    const all = await readSnapshotRanges(context, QUEUE_COLLECTIONS, [buildRecentAuditRange(context)]);
    const found = findRun(all, word);
    return { snapshot: await addHistories(context, all, [found]), claim: found };
  });
  const wall = context.clock.getWallTime();
  const explanation = explain(snapshot, claim, wall);
  const own = claim.entries.map(({ entry }) => entry);
  const liveness = await readEntryLiveness(context, [...own, ...listConcernedEntries([explanation])]);
  return {
    revision: snapshot.revision,
    createDetail: () => buildRunDetail(snapshot, claim, { wall, sessions: liveness }),
    createDocument: () => ({
      row: toClaimRow(claim, buildViewContext(snapshot, wall)),
      runner: own[0] && toRunnerJson(own[0], liveness),
      why: toExplanationJson(explanation, liveness),
      audit: filterAuditRecords(snapshot.audit, (target) => target === `run ${claim.run}`),
    }),
  };
}

/** @throws SignalboxError 1 if no run matches, or several do */
function findRun(snapshot: Snapshot, word: string): Claim {
  const claims = followClaims(snapshot);
  const claim = findOnlyClaim(word, claims);
  return claim ?? throwUnknownName("run", word, listNames(claims), ", or it has ended");
}

function* listNames(claims: ClaimIndex): Generator<string> {
  for (const { run, entries } of claims.values()) {
    yield run;
    if (entries[0] !== undefined) yield formatTicketOwner(entries[0].entry);
  }
}

/** Shows a schedule. Reads its own keys, the workers and the groups. @throws SignalboxError 1 if it does not exist */
async function showSchedule(context: CommandContext, id: string): Promise<DetailDocument> {
  const { keys, clock } = context;
  const ranges = [...keys.listScheduleRanges(id), buildRecentAuditRange(context)];
  const snapshot = await readSnapshotRanges(context, ["workers", "groups", "calendars"], ranges);
  const executions = snapshot.executions.get(id) ?? [];
  const liveness = await readEntryLiveness(context, executions);
  const wall = clock.getWallTime();
  const detail = buildScheduleDetail(snapshot, id, { wall, sessions: liveness });
  if (detail === undefined) {
    const all = await readSnapshotRanges(context, ["schedules"], [], snapshot.revision);
    return throwUnknownName("schedule", id, all.schedules.keys());
  }
  const outcomes = snapshot.outcomes.get(id) ?? NO_OUTCOMES;
  return {
    revision: snapshot.revision,
    createDetail: () => detail,
    createDocument: () => ({
      row: findRowJson(snapshot, "schedules", id, buildViewContext(snapshot, wall)),
      history: outcomes.runs,
      dead: outcomes.dead,
      audit: filterAuditRecords(snapshot.audit, (target) => isAboutSchedule(target, id)),
    }),
  };
}
