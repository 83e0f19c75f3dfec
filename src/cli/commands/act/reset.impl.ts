import { addMs, formatDuration, subtractTime, type WallTime } from "../../../core/base/clock.ts";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";
import { clean, formatShortList, quoteText, suggestNearest } from "../../../core/base/text.ts";
import { isHolding } from "../../../core/protocol/admission.ts";
import { guardOwned } from "../../../core/protocol/guards.ts";
import type { QueueKind } from "../../../core/protocol/keys.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { describeVanished, type QueueEntry } from "../../../core/protocol/ticket.ts";
import type { Compare } from "../../../core/protocol/txn.ts";
import {
  canRequestReset,
  type DepartureEvent,
  removeTickets,
  requestResets,
  waitUntilGone,
} from "../../../site/operate/reset.ts";
import { findClaim, findResetTargets, followClaims } from "../../../site/state/claims.ts";
import { type EvictionPreview, previewEviction } from "../../../site/state/eviction-preview.ts";
import { judgeRunnerLiveness } from "../../../site/state/liveness.ts";
import { findNamedQueue, type Snapshot } from "../../../site/state/snapshot.ts";
import { type ActionEnd, createActionCommand, performAction, refuseIfChanged } from "../../frame/action.ts";
import {
  type ActionOutcome,
  type EvictionResult,
  NOTHING_CHANGED,
  type RunnerRecord,
} from "../../frame/outcome.ts";
import {
  findOnlyClaim,
  QUEUE_COLLECTIONS,
  readEntryLiveness,
  readSnapshot,
  readSnapshotAt,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import {
  describeQueueChanges,
  formatEvictionPreview,
  formatTicketOwner,
  SHOWN_LINES,
} from "../../views/claims.ts";
import { toRunnersJson } from "../see/show-json.ts";
import type { ResetFlags } from "./reset.ts";

export const resetTarget = createActionCommand<ResetFlags>(async (context) => {
  const [kind, name = ""] = context.args;
  const { run, force, waiting } = context.flags;
  if (waiting && kind !== "run") throw new UsageError("--waiting has an effect only with run; leave it out");
  if (run !== undefined && (kind === "run" || !force))
    throw new UsageError(
      `--run deletes the ticket of one run with --force; to end a run: signalbox reset run ${quoteShellWord(run)}`,
    );
  const snapshot = await readSnapshot(context, QUEUE_COLLECTIONS);
  if (kind === "run") return await resetRun(context, snapshot, name);
  return await resetQueue(context, snapshot, kind === "resource" ? "resource" : "lock", name);
});

/** Ends the runs that hold a lock or a resource. */
async function resetQueue(
  context: CommandContext<ResetFlags>,
  snapshot: Snapshot,
  kind: QueueKind,
  word: string,
): Promise<ActionOutcome<EvictionResult>> {
  const name = validateName(kind, word);
  const wanted = context.flags.run;
  const run = wanted === undefined ? undefined : resolveRun(snapshot, kind, name, wanted);
  return await evict(context, {
    target: `${kind} ${name}`,
    snapshot,
    findEntries: (seen) => findResetTargets(seen, kind, name, run),
    queues: [{ kind, name }],
    nothing: describeNothingHeld(snapshot, kind, name, run),
  });
}

/**
 * Finds the run that a word names, in the queue. Returns the word itself if the queue has no such run: it is not an error
 * that a run has ended.
 */
function resolveRun(snapshot: Snapshot, kind: QueueKind, name: string, word: string): string {
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  const here = new Set(entries.map((entry) => entry.run));
  const claims = new Map([...followClaims(snapshot)].filter(([run]) => here.has(run)));
  return findOnlyClaim(word, claims)?.run ?? word;
}

function describeNothingHeld(
  snapshot: Snapshot,
  kind: QueueKind,
  name: string,
  run: string | undefined,
): string {
  const queue = findNamedQueue(snapshot, kind, name);
  if (queue !== undefined && run !== undefined)
    return `run ${quoteText(run)} neither holds ${kind} ${quoteText(name)} nor waits for it`;
  if (queue !== undefined) return `nobody holds ${kind} ${quoteText(name)}; ${queue.entries.length} wait`;
  const known = [...snapshot.queues.values()].filter((one) => one.kind === kind).map((one) => one.name);
  return `nobody holds ${kind} ${quoteText(name)} or waits for it${suggestNearest(name, known)}`;
}

/** Ends a run: all its tickets are asked for, whether they hold or wait. */
async function resetRun(
  context: CommandContext<ResetFlags>,
  snapshot: Snapshot,
  word: string,
): Promise<ActionOutcome<EvictionResult>> {
  const claim = findOnlyClaim(word, followClaims(snapshot));
  const run = claim?.run ?? word;
  const outcome = await evict(context, {
    target: `run ${run}`,
    snapshot,
    findEntries: (seen) => findClaim(seen, run)?.entries.map(({ entry }) => entry) ?? [],
    queues: (claim?.entries ?? []).map(({ queue: { kind, name } }) => ({ kind, name })),
    nothing: `no run ${quoteText(word)} holds or waits for anything`,
  });
  const isUnknown = claim === undefined && outcome.result.outcome === "nothing";
  return isUnknown ? { ...outcome, exitCode: EXIT.undone, isFault: true } : outcome;
}

/** Tickets to remove for an operator, and the snapshot that the decision is based on. */
interface EvictionDraft {
  /** Finds the tickets that the eviction ends, in any snapshot. */
  findEntries(snapshot: Snapshot): readonly QueueEntry[];
  /** The queues of these tickets. */
  queues: readonly { kind: QueueKind; name: string }[];
  /** As in the audit: `lock invoices`. */
  target: string;
  snapshot: Snapshot;
  /** The message if there are no tickets. */
  nothing: string;
}

interface EvictionPlan extends EvictionDraft {
  context: CommandContext<ResetFlags>;
  entries: readonly QueueEntry[];
  preview: EvictionPreview;
}

/** Largest number of runners whose state a preview shows. */
const MOST_RUNNERS = 8;

/** Ends the runs of some tickets, and waits until they are gone. */
async function evict(
  context: CommandContext<ResetFlags>,
  draft: EvictionDraft,
): Promise<ActionOutcome<EvictionResult>> {
  const { flags } = context;
  const { snapshot, target } = draft;
  const entries = draft.findEntries(snapshot);
  const runs = new Set(entries.map(({ run }) => run));
  const preview = previewEviction(snapshot, runs, context.clock.getWallTime());
  const plan: EvictionPlan = { ...draft, context, entries, preview };
  const { runners, states } = await readRunners(plan);
  const risk = flags.force ? ", at the risk that two commands run at once," : "";
  return await performAction<EvictionResult>(context, {
    planned: { kind: "eviction", revision: snapshot.revision, target, preview, runners },
    compare: async () => {
      const refusal = refuseIfChanged(await describeChangesSince(plan));
      if (refusal === undefined) checkReadable(plan);
      return refusal;
    },
    nothing: entries.length === 0 ? [draft.nothing] : undefined,
    describe: (wall) => [
      ...formatEvictionPreview(preview, wall),
      ...states.map(({ text, key }) => (wall === undefined ? key : text)),
    ],
    question: `Reset${risk} ${clean(target)}?`,
    write: () => putEviction(plan),
    wait: flags["no-wait"] ? undefined : (record) => waitForEnd(plan, record),
    stays: "the request stays in effect",
  });
}

/** Reads the state of the runners to end: a runner that is gone answers no request. */
async function readRunners({
  context,
  entries,
}: EvictionPlan): Promise<{ runners: readonly RunnerRecord[]; states: { text: string; key: string }[] }> {
  if (context.flags.yes && !context.flags["dry-run"]) return { runners: [], states: [] };
  const shown = entries.slice(0, MOST_RUNNERS);
  const runnerLiveness = await readEntryLiveness(context, shown);
  const states = shown.map((entry) => {
    const { text, verdict } = judgeRunnerLiveness(runnerLiveness.get(entry.session));
    return { text: `state ${formatTicketOwner(entry)}: ${text}`, key: `${entry.key} ${verdict}` };
  });
  return { runners: toRunnersJson(shown, runnerLiveness), states };
}

function checkReadable({ context, entries }: EvictionPlan): void {
  const strange = entries.find((entry) => !canRequestReset(entry));
  if (strange === undefined || context.flags.force) return;
  const { key, run, vanished } = strange;
  throw new SignalboxError(
    EXIT.undone,
    vanished === undefined
      ? `${NOTHING_CHANGED}: the ticket ${key} cannot be read, so its run cannot be asked to end; --force deletes the ticket`
      : `${NOTHING_CHANGED}: run ${run} cannot be asked to end: ${describeVanished(vanished)}; --force frees it now`,
  );
}

async function putEviction(plan: EvictionPlan): Promise<ActionEnd<EvictionResult>> {
  const { context, target, entries, snapshot } = plan;
  const { force, reason } = context.flags;
  const receipt = await (force ? removeTickets : requestResets)(context, {
    action: "reset",
    target,
    entries,
    reason,
    seen: snapshot.revision,
    compare: buildNextGuards(plan),
  });
  if (receipt?.kind === "changed") return { outcome: "changed", messages: await readCurrentChanges(plan) };
  const names = formatOwners(entries);
  const told = force ? `removed the tickets of ${names}` : `asked ${names} to end`;
  return { outcome: "asked", messages: [told], receipt };
}

/** Waits until the tickets are gone: then the commands have ended, and the next ones may start. */
async function waitForEnd(
  plan: EvictionPlan,
  record: (outcome: string) => Promise<void>,
): Promise<ActionEnd<EvictionResult>> {
  const { context, entries } = plan;
  const { clock, signal } = context;
  const { force, timeout } = context.flags;
  const start = clock.now();
  const deadline = timeout === undefined ? undefined : addMs(start, timeout);
  const onEvent = (news: DepartureEvent) => reportNews(context, news);
  const left = (await waitUntilGone(context, entries, { signal, deadline, onEvent })).length;
  const took = formatDuration(Math.round(subtractTime(clock.now(), start) / 100) * 100);
  const ended = force ? "removed by force" : `ended after ${took}`;
  await record(left > 0 ? `${left} not ended after ${took}` : ended);
  if (left > 0)
    return {
      outcome: "timeout",
      messages: [
        `${left} of ${entries.length} tickets are left after ${took}; the request stays in effect`,
        "a runner that is frozen or gone loses its claim when its session expires; --force does not wait for that",
        ...(entries.some(({ ticket }) => ticket?.call !== undefined)
          ? ["a run of an agent has no session of its own: the agent removes its ticket when the run is gone"]
          : []),
      ],
    };
  const names = formatOwners(entries);
  const isOne = new Set(entries.map(formatTicketOwner)).size === 1;
  const told = force
    ? `the tickets of ${names} are gone`
    : `${names} ${isOne ? "has" : "have"} ended, after ${took}`;
  return { outcome: "done", messages: [told, ...(await readSuccessors(plan))] };
}

/** Describes the current holder of each freed queue. A grant takes some milliseconds. */
async function readSuccessors({ context, queues }: EvictionPlan): Promise<string[]> {
  const now = await readSnapshot(context, QUEUE_COLLECTIONS);
  return queues.map(({ kind, name }) => {
    const entries = findNamedQueue(now, kind, name)?.entries ?? [];
    const [holder] = entries.filter(isHolding);
    if (holder !== undefined) return `${kind} ${name} is now held by ${formatTicketOwner(holder)}`;
    const [next] = entries;
    return `${kind} ${name} is free, ${next === undefined ? "nobody waits for it" : `next is ${formatTicketOwner(next)}`}`;
  });
}

function reportNews({ printMessage }: CommandContext, news: DepartureEvent): void {
  if (news.kind === "away") printMessage(`etcd is unreachable (${news.error.message}); waiting for it`);
  if (news.kind === "back") printMessage("etcd is reachable again");
  if (news.kind === "left" && news.remaining > 0) printMessage(`${news.remaining} still to end`);
}

/** Names the runs to end: at most three. */
function formatOwners(entries: readonly QueueEntry[]): string {
  return formatShortList([...new Set(entries.map(formatTicketOwner))], 3);
}

/**
 * Describes what has changed since `--expect-revision` in what the eviction affects, one sentence each. Prints how many
 * other runs came and left.
 * @throws as `readSnapshotAt`
 */
async function describeChangesSince(plan: EvictionPlan): Promise<readonly string[]> {
  const { context, snapshot, entries } = plan;
  const { waiting, "expect-revision": expected } = context.flags;
  const held = waiting ? entries.find(isHolding) : undefined;
  if (held !== undefined) return [`${formatTicketOwner(held)} no longer waits: it holds its claim`];
  if (expected === undefined) return [];
  const before = await readSnapshotAt(context, QUEUE_COLLECTIONS, expected, snapshot);
  const { atStake, others } = computeEvictionChanges(plan, before, snapshot);
  if (atStake.length === 0 && others.come + others.gone > 0)
    context.printMessage(
      `since revision ${expected}: ${others.come} runs came, ${others.gone} left; the runs to end are the same`,
    );
  return atStake;
}

/** Describes what other operators changed between the read and the write. @throws StoreError */
async function readCurrentChanges(plan: EvictionPlan): Promise<readonly string[]> {
  const now = await readSnapshot(plan.context, QUEUE_COLLECTIONS);
  return computeEvictionChanges(plan, plan.snapshot, now).atStake;
}

/** Builds the guards that the runs shown as next are still there. Empty if nothing was shown. */
function buildNextGuards({ context, entries, snapshot }: EvictionPlan): Compare[] {
  const isShown = !context.flags.yes || context.flags["expect-revision"] !== undefined;
  return isShown ? guardOwned(findNextEntries(entries, snapshot, context.clock.getWallTime())) : [];
}

/** Changes between the snapshot that the operator saw and a later one. */
interface EvictionChanges {
  /** Changes to what the eviction affects, one sentence each. If there are any, the eviction is refused. */
  atStake: readonly string[];
  /** Other tickets that came to or left the queues. They are reported and do not refuse the eviction. */
  others: { come: number; gone: number };
}

/** Compares what an eviction affects: the tickets that it ends, and the runs that were shown as next. */
function computeEvictionChanges(plan: EvictionPlan, before: Snapshot, after: Snapshot): EvictionChanges {
  const [ended, ends] = [plan.findEntries(before), plan.findEntries(after)];
  const wall = plan.context.clock.getWallTime();
  const isAtStake = collectKeys([...ended, ...ends]);
  const queues = plan.queues.map(({ kind, name }) => ({
    before: findNamedQueue(before, kind, name)?.entries ?? [],
    after: findNamedQueue(after, kind, name)?.entries ?? [],
  }));
  const filterAtStake = (entries: readonly QueueEntry[]) => entries.filter(({ key }) => isAtStake.has(key));
  const moved = queues.flatMap((queue) =>
    describeQueueChanges(filterAtStake(queue.before), filterAtStake(queue.after)),
  );
  const then = collectKeys(queues.flatMap((queue) => queue.before));
  const now = collectKeys(queues.flatMap((queue) => queue.after));
  const countMissing = (from: ReadonlySet<string>, to: ReadonlySet<string>) =>
    [...from].filter((key) => !to.has(key) && !isAtStake.has(key)).length;
  return {
    atStake: [...new Set([...moved, ...describeNextChanges(ended, before, ends, after, wall)])],
    others: { come: countMissing(now, then), gone: countMissing(then, now) },
  };
}

/** Describes runs that were shown as next and no longer are. Additional next runs are no reason to refuse. */
function describeNextChanges(
  ended: readonly QueueEntry[],
  before: Snapshot,
  ends: readonly QueueEntry[],
  after: Snapshot,
  wall: WallTime,
): string[] {
  const shown = findNextEntries(ended, before, wall);
  if (shown.length === 0) return [];
  const now = findNextEntries(ends, after, wall);
  const runs = new Set(now.map(({ run }) => run));
  const lost = shown.filter(({ run }) => !runs.has(run));
  if (lost.length === 0) return [];
  const [next] = now;
  const instead = next === undefined ? "no waiting run is" : `${formatTicketOwner(next)} is`;
  return lost.map((entry) => `${formatTicketOwner(entry)} is no longer next: ${instead}`);
}

/** Finds the first ticket of each run that would be granted next, limited to the runs that a preview shows. */
function findNextEntries(ended: readonly QueueEntry[], snapshot: Snapshot, wall: WallTime): QueueEntry[] {
  const runs = new Set(ended.map(({ run }) => run));
  const { next } = previewEviction(snapshot, runs, wall);
  return next.slice(0, SHOWN_LINES).flatMap(({ claim: { entries } }) => entries[0]?.entry ?? []);
}

function collectKeys(entries: readonly QueueEntry[]): Set<string> {
  return new Set(entries.map(({ key }) => key));
}
