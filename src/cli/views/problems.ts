import { formatBriefDuration, formatInstant, type WallTime } from "../../core/base/clock.ts";
import type { Finding } from "../../core/base/finding.ts";
import { createListMapper, memoizeWeakly } from "../../core/base/memoize.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { canonicalizeHost, formatShortList, pluralize } from "../../core/base/text.ts";
import { listGroupHosts, listGroupNotes } from "../../core/fleet/groups.ts";
import { HOST_RECORD_INTERVAL } from "../../core/fleet/host-record.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import { hasEnded } from "../../core/protocol/drain.ts";
import { describeVanished, type QueueEntry, type Ticket } from "../../core/protocol/ticket.ts";
import { formatConditions, getScheduleType } from "../../schedule/definition.ts";
import { isHookPermitted } from "../../schedule/definition-values.ts";
import { listStates } from "../../schedule/state/host-states.ts";
import { groupClaimsByHost } from "../../site/state/claims.ts";
import { listMalformedConfig } from "../../site/state/configuration.ts";
import { findPlainTotal } from "../../site/state/eviction-preview.ts";
import { isSeenWithin } from "../../site/state/liveness.ts";
import {
  buildProblemId,
  createFailure,
  createWarning,
  PROBLEM_KINDS,
  type Problem,
  type ProblemInputs,
  THRESHOLDS,
} from "../../site/state/problem.ts";
import { listDisputedResources } from "../../site/state/shares.ts";
import {
  buildGroupMembers,
  compareMaps,
  findNamedQueue,
  type NamedQueue,
  type Snapshot,
} from "../../site/state/snapshot.ts";
import { computeTypicalHeld, computeTypicalWaited } from "../../site/state/statistics.ts";
import type { Remedy } from "../../site/state/subject.ts";
import { parseSubject } from "../../site/state/subject.ts";
import { CONTEXT_COLLECTIONS } from "../../site/state/view-context.ts";
import { formatExecutionOwner, formatTicketOwner } from "./claims.ts";
import { createTextColumn } from "./columns.ts";
import { describeDrainTarget } from "./drain-lines.ts";
import { describeChoice, describeObject, describeText } from "./json.ts";
import { formatMacroDispute } from "./macro-dispute.ts";
import {
  buildScheduleRows,
  canWorkerRun,
  findOverruns,
  formatMissedRuns,
  type ScheduleRow,
} from "./schedules.ts";
import type { SnapshotView } from "./view.ts";

export const problemsView: SnapshotView<Problem> = {
  of: "snapshot",
  isTimed: true,
  id: "problems",
  brief: "what an operator should look at, each with a remedy",
  collections: [
    ...CONTEXT_COLLECTIONS,
    "locks",
    "resources",
    "histories",
    "schedules",
    "dues",
    "runnings",
    "workers",
    "calendars",
  ],
  columns: [
    createTextColumn("level", 1, ({ level }) => level, {
      isMarked: true,
      getSortValue: ({ level }) => (level === "failure" ? 0 : 1),
      getTone: ({ level }) => (level === "failure" ? "problem" : "waiting"),
    }),
    createTextColumn("kind", 3, ({ kind }) => kind),
    createTextColumn("subject", 1, ({ subject }) => subject),
    createTextColumn("detail", 1, ({ detail }) => detail, { below: "sentence" }),
    createTextColumn("remedy", 2, ({ remedy }) => remedy, { below: "line" }),
    createTextColumn("docs", 9, ({ kind }) => findPage(kind)),
  ],
  sort: "level",
  getKey: buildProblemId,
  getFacets: ({ kind, level, host }) => ({
    states: [kind, level],
    hosts: host === undefined ? [] : [host],
    holders: [],
  }),
  getSubject: (problem) => ({
    kind: "record",
    name: buildProblemId(problem),
    ...parseSubject(problem.subject),
    ...(problem.action && { remedy: problem.action }),
  }),
  json: describeObject("problem", "A problem that an operator should look at.", {
    kind: describeChoice(PROBLEM_KINDS, "kind of problem", "kind"),
    level: describeChoice(["warning", "failure"], "severity. `failure`: something does not work", "level"),
    subject: describeText("affected object, such as `lock invoices`", "subject"),
    detail: describeText("description for people", "detail"),
    remedy: describeText("command to run, or what to check", "remedy"),
    "host?": describeText("affected host, if there is one", "host"),
    "run?": describeText("affected run, if there is one", "run"),
  }),
  getChangeKey: buildProblemId, // a longer duration is not a change
  buildRows: (snapshot, { wall }) => findProblems(snapshot, wall),
  empty: "No problems under this prefix, and none of etcd itself. More checks: signalbox doctor",
};

/** Kinds of problems and findings, by the page of the documentation that says more. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "agent.md": ["agent", "launcher"],
  "crontabs.md": ["crontab", "program"],
  "etcd.md": ["authentication", "compaction", "lag", "permissions", "transport"],
  "etcd-versions.md": ["versions"],
  "hooks.md": ["hooks"],
  "maintenance.md": ["drain-ended", "reset-unanswered"],
  "output.md": ["output"],
  "schedules.md": ["dead-letter", "late", "missed", "overrun", "paused", "postponed"],
  "when-etcd-fails.md": ["alarm", "etcd", "leader", "member", "quorum", "space"],
  "worker.md": ["clock", "no-worker"],
};

/** Finds the page of the documentation about a kind of problems or findings. */
export function findPage(kind: string): string | undefined {
  const [page] = Object.keys(PAGES).filter((one) => PAGES[one]?.includes(kind));
  return page && `docs/${page}`;
}

/** Finds the problems in a snapshot, failures first. Collections that were not read have no problems. */
export function findProblems(snapshot: Snapshot, wall: WallTime): Problem[] {
  const inputs = { snapshot, wall };
  const found = [
    ...(snapshot.etcdFaults ?? []).map(toProblem),
    ...Array.from(snapshot.strange, ([key, fault]) => buildUnknownKeyProblem(key, fault)),
    ...listQueueProblems(inputs),
    ...findMalformedConfig(snapshot),
    ...findDrainProblems(snapshot, wall),
    ...findGroupProblems(inputs),
    ...findHostProblems(inputs),
    ...findMacroProblems(snapshot),
    ...findScheduleProblems(inputs),
  ];
  return found.sort((a, b) => Number(b.level === "failure") - Number(a.level === "failure"));
}

/** The command that shows more of etcd's own problems. */
export const ETCD_REMEDY: Remedy = { command: "etcd members", args: [] };

function toProblem({ kind, level, check, detail, remedy = "" }: Finding): Problem {
  return {
    kind: kind as Problem["kind"],
    level: level === "failure" ? level : "warning",
    subject: check,
    detail,
    remedy,
    action: ETCD_REMEDY,
  };
}

export function buildUnknownKeyProblem(key: string, fault: string): Problem {
  const remedy = `if no other program needs it: etcdctl del ${quoteShellWord(key)}`;
  return createWarning("malformed", `key ${key}`, fault, remedy);
}

/** Finds configuration values that cannot be read. */
export function findMalformedConfig(snapshot: Snapshot): Problem[] {
  return listMalformedConfig(snapshot).map(({ kind, name, fault }) =>
    createFailure("malformed", `${kind} ${name}`, fault, `signalbox ${kind} set ${quoteShellWord(name)} …`),
  );
}

/** Finds drains that have expired but still exist. */
export function findDrainProblems({ drains }: Snapshot, wall: WallTime): Problem[] {
  return [...drains.values()]
    .filter((drain) => hasEnded(drain, wall))
    .map((drain) => {
      const { scope, name, until = wall } = drain;
      const args = scope === "all" ? [scope] : [scope, name];
      return createWarning(
        "drain-ended",
        `drain of ${describeDrainTarget(drain)}`,
        `it ended by itself ${formatBriefDuration(wall - until)} ago, but was not deleted: it stops nothing`,
        `signalbox undrain ${args.map(quoteShellWord).join(" ")}`,
        { action: { command: "undrain", args } },
      );
    });
}

/**
 * Finds hosts with tickets but without a recent host record. Without any host record there are no findings: the hosts
 * run a version that does not write records.
 */
function findHostProblems({ snapshot, wall }: ProblemInputs): Problem[] {
  const { hosts } = snapshot;
  if (hosts.size === 0) return [];
  return Array.from(groupClaimsByHost(snapshot)).flatMap(([host, own]) => {
    // A host writes its record with a claim or while an agent or a worker runs there, at most once per HOST_RECORD_INTERVAL.
    const seenAt = hosts.get(canonicalizeHost(host))?.seenAt ?? 0;
    const count = own.countEnqueued(seenAt + HOST_RECORD_INTERVAL + THRESHOLDS.clock, wall - THRESHOLDS.word);
    if (count === 0) return [];
    return createWarning(
      "host",
      `host ${host}`,
      `it has tickets in queues (${count}), but no host record`,
      "signalbox init on that host checks whether its role may write hosts/",
      { host },
    );
  });
}

/** Finds hosts whose processes have different macros, as far as these give resources different totals. */
function findMacroProblems(snapshot: Snapshot): Problem[] {
  return listDisputedResources(snapshot).map(({ host, name }) =>
    createWarning(
      "totals",
      `resource ${name}`,
      formatMacroDispute(snapshot, name),
      `give all of them the same macros, in /etc/signalbox/config.json: signalbox config, as each user on ${host}`,
      { host },
    ),
  );
}

/** Finds possible mistakes in groups, and group hosts that were not seen lately and have no worker. */
export function findGroupProblems({ snapshot, wall }: ProblemInputs): Problem[] {
  const groups = buildGroupMembers(snapshot);
  const notes = listGroupNotes(groups).map((detail) =>
    createWarning("group", "groups", detail, "signalbox ls groups"),
  );
  const working = new Set(
    [...snapshot.workers.values()].map(({ value }) => value && canonicalizeHost(value.host)),
  );
  const unseen = [...groups.keys()].flatMap((group) => {
    const missing = listGroupHosts(groups, group).filter(
      (host) =>
        !working.has(canonicalizeHost(host)) &&
        !isSeenWithin(snapshot.hosts.get(canonicalizeHost(host)), THRESHOLDS.host, wall),
    );
    if (missing.length === 0) return [];
    return createWarning(
      "host",
      `group ${group}`,
      `not seen for ${formatBriefDuration(THRESHOLDS.host)}: ${formatShortList(missing, 3)}`,
      `is cron or a worker running there? Or take them out: signalbox group remove ${quoteShellWord(group)} HOST`,
    );
  });
  return [...notes, ...unseen];
}

/** Whether a queue can have problems within a time, if neither its history nor its configuration changes. */
interface QueueOutlook {
  from: WallTime;
  until: WallTime;
  isQuiet: boolean;
}

const getOutlook = memoizeWeakly((_queue: NamedQueue): QueueOutlook => ({ ...UNKNOWN_OUTLOOK }));
const mapQueues = createListMapper<NamedQueue, QueueOutlook>();
const UNKNOWN_OUTLOOK: QueueOutlook = { from: Number.POSITIVE_INFINITY, until: 0, isQuiet: false };
/** The outlooks are for these histories and this configuration. */
let outlookInputs: Pick<Snapshot, "histories" | "resources"> = { histories: new Map(), resources: new Map() };
/** How far ahead it is computed that a queue will have no problems, ms. */
const QUIET_TIME_MS = 10 * 60_000;
/** Queues that are the same at first get as many ends, so that not all are examined again at the same time. */
const OUTLOOK_ENDS = 16;

/** Finds the problems of all queues. Those that cannot have one yet cost nothing until something changes: there may be ten thousand. */
function listQueueProblems(inputs: ProblemInputs): Problem[] {
  const { snapshot, wall } = inputs;
  forgetOutlooks(snapshot);
  const queues = [...snapshot.queues.values()];
  const outlooks = mapQueues(queues, getOutlook);
  const loud = queues.filter((queue, at) => {
    const outlook = outlooks[at];
    if (outlook === undefined) return true;
    if (wall < outlook.from || wall >= outlook.until) {
      const until = wall + QUIET_TIME_MS * (1 + (at % OUTLOOK_ENDS) / OUTLOOK_ENDS);
      Object.assign(outlook, { from: wall, until, isQuiet: isQuietUntil(queue, until, inputs) });
    }
    return !outlook.isQuiet;
  });
  return loud.flatMap((queue) => findQueueProblems(queue, inputs));
}

/** Forgets the outlook of the queues whose history or configuration has changed. */
function forgetOutlooks(snapshot: Snapshot): void {
  const { histories, resources } = snapshot;
  for (const [before, after, kind] of [
    [outlookInputs.histories, histories, "lock"],
    [outlookInputs.resources, resources, "resource"],
  ] as const) {
    const { gone, come } = compareMaps<object>(before, after);
    for (const [name] of [...gone, ...come]) {
      const queue = findNamedQueue(snapshot, kind, name);
      if (queue !== undefined) Object.assign(getOutlook(queue), UNKNOWN_OUTLOOK);
    }
  }
  outlookInputs = { histories, resources };
}

/** All but a clock that is ahead become problems as time passes, and stay so. */
function isQuietUntil(queue: NamedQueue, until: WallTime, { snapshot, wall }: ProblemInputs): boolean {
  return (
    findQueueProblems(queue, { snapshot, wall: until }).length === 0 &&
    queue.entries.every(({ ticket }) => ticket === undefined || ticket.enqueuedAt <= wall)
  );
}

export function findQueueProblems(queue: NamedQueue, inputs: ProblemInputs): Problem[] {
  return [
    ...queue.entries.flatMap((entry) => findTicketProblems(queue, entry, inputs)),
    ...findTotalProblems(queue, inputs),
    ...findHoldProblems(queue, inputs),
    ...findWaitProblems(queue, inputs),
  ];
}

/** Finds runs that hold much longer than past runs of the lock. */
function findHoldProblems(queue: NamedQueue, { snapshot, wall }: ProblemInputs): Problem[] {
  const usual =
    queue.kind === "lock" ? computeTypicalHeld(snapshot.histories.get(queue.name) ?? []) : undefined;
  const limit = usual === undefined ? THRESHOLDS.hold : Math.max(60_000, THRESHOLDS.unusual * usual.p95);
  const held = queue.entries.filter(({ ticket, vanished }) => ticket?.state === "held" && !vanished);
  return findEntriesBefore(held, ({ grantedAt }) => grantedAt, wall - limit).map(({ entry, since }) =>
    createWarning(
      "long-hold",
      formatQueueName(queue),
      `${formatTicketOwner(entry)} has held it for ${formatBriefDuration(wall - since)}${formatUsual(usual?.p95)}`,
      `signalbox show ${queue.kind} ${quoteShellWord(queue.name)}`,
      toProblemRun(entry),
    ),
  );
}

/** Finds runs that wait long, and much longer than past runs of the lock. */
function findWaitProblems(queue: NamedQueue, { snapshot, wall }: ProblemInputs): Problem[] {
  const usual =
    queue.kind === "lock" ? computeTypicalWaited(snapshot.histories.get(queue.name) ?? []) : undefined;
  const limit = Math.max(THRESHOLDS.wait, THRESHOLDS.unusual * (usual?.p95 ?? 0));
  const waiting = queue.entries.filter((entry) => entry.ticket !== undefined && !isHolding(entry));
  const found = findEntriesBefore(waiting, ({ enqueuedAt }) => enqueuedAt, wall - limit);
  const [first] = found;
  if (first === undefined) return [];
  // Runs behind the first wait for the same reason, so there is one problem per queue.
  const more = found.length === 1 ? "" : `, and ${found.length - 1} behind it nearly as long`;
  return [
    createWarning(
      "long-wait",
      formatQueueName(queue),
      `${formatTicketOwner(first.entry)} has waited for ${formatBriefDuration(wall - first.since)}${more}${formatUsual(usual?.p95)}`,
      `signalbox why ${quoteShellWord(first.entry.run)}`,
      toProblemRun(first.entry),
    ),
  ];
}

function toProblemRun({ run, ticket }: QueueEntry): Partial<Problem> {
  return { run, ...(ticket && { host: ticket.host }) };
}

/** Finds entries whose instant is before a limit. Instants in ms since the epoch. */
function findEntriesBefore(
  entries: readonly QueueEntry[],
  instant: (ticket: Ticket) => number | undefined,
  before: number,
): { entry: QueueEntry; since: WallTime }[] {
  return entries.flatMap((entry) => {
    const since = entry.ticket && instant(entry.ticket);
    return since === undefined || since >= before ? [] : [{ entry, since }];
  });
}

function formatUsual(p95: number | undefined): string {
  return p95 === undefined ? "" : `; 95 % of its runs: no more than ${formatBriefDuration(p95)}`;
}

/** Finds runs that state different totals, and claims that can never be granted. */
function findTotalProblems(queue: NamedQueue, { snapshot }: ProblemInputs): Problem[] {
  if (queue.kind !== "resource") return [];
  const subject = formatQueueName(queue);
  const tickets = queue.entries.flatMap(({ ticket }) => ticket ?? []);
  const totals = [...new Set(tickets.map(({ total }) => total))].sort((a, b) => a - b);
  const configured = findPlainTotal(snapshot, queue.name);
  const disagree =
    totals.length > 1 || (configured !== undefined && totals.some((one) => one !== configured));
  const large = tickets.filter(({ count }) => configured !== undefined && count > configured);
  const config =
    configured === undefined ? "" : `, configured ${configured === 1 ? "is" : "are"} ${configured}`;
  const disagreement = createWarning(
    "totals",
    subject,
    `runs state totals of ${totals.join(", ")}${config}`,
    `signalbox resource set ${quoteShellWord(queue.name)} TOTAL, and leave totals out of --lease`,
    { action: { command: "resource set", args: [queue.name] } },
  );
  return [
    ...(disagree ? [disagreement] : []),
    ...large.map(({ host, pid, count, run }) =>
      createWarning(
        "too-large",
        subject,
        `${host}:${pid} asks for ${count} units, but there are only ${configured}`,
        "it gives up by itself at its next check; ask for less",
        { host, run },
      ),
    ),
  ];
}

const PRUNE: Remedy = { command: "prune", args: [], flags: { vanished: true } };

function findTicketProblems(queue: NamedQueue, entry: QueueEntry, { wall }: ProblemInputs): Problem[] {
  const { ticket } = entry;
  const subject = formatQueueName(queue);
  const { kind, name } = queue;
  const { run } = entry;
  // Removes the ticket without its runner. A key put by hand has its last segment as run id.
  const reset = `signalbox reset ${kind} ${quoteShellWord(name)} --run ${quoteShellWord(run)} --force`;
  const action: Remedy = { command: "reset", args: [kind, name], flags: { run, force: true } };
  if (ticket === undefined) {
    const detail = `the ticket ${entry.key} cannot be read; it counts as all units, so nothing behind it is granted`;
    return [createFailure("malformed", subject, detail, reset, { action, run })];
  }
  const about = { host: ticket.host, run };
  const asked = ticket.reset === undefined ? 0 : wall - ticket.reset.at;
  const ahead = ticket.enqueuedAt - wall;
  const who = formatTicketOwner(entry);
  const found = [
    entry.vanished !== undefined &&
      createWarning(
        "vanished",
        subject,
        `${who} held it: ${describeVanished(entry.vanished)}, once a run asks for it`,
        "signalbox prune --vanished",
        { ...about, action: PRUNE },
      ),
    entry.vanished === undefined &&
      entry.session === 0n &&
      createFailure("orphan", subject, `${who} has a ticket without a session: it never expires`, reset, {
        ...about,
        action,
      }),
    ticket.state === "grace" &&
      hasEnded(ticket, wall) &&
      createWarning("overdue", subject, `${who} keeps its place after the end of its grace`, reset, {
        ...about,
        action,
      }),
    asked > THRESHOLDS.reset &&
      createWarning(
        "reset-unanswered",
        subject,
        `${who} was asked to end ${formatBriefDuration(asked)} ago, and has not ended`,
        reset,
        { ...about, action },
      ),
    ahead > THRESHOLDS.clock &&
      createWarning(
        "clock",
        subject,
        `${who} wrote a time ${formatBriefDuration(ahead)} ahead of this host's clock`,
        COMPARE_CLOCKS,
        about,
      ),
  ];
  return found.filter((one) => one !== false);
}

const COMPARE_CLOCKS = "compare the clocks of the hosts (ntp)";

/** Finds the problems of schedules and workers. */
function findScheduleProblems(inputs: ProblemInputs): Problem[] {
  const { snapshot, wall } = inputs;
  if (snapshot.schedules.size === 0) return findWorkerProblems(snapshot);
  const rows = buildScheduleRows(snapshot, { wall, groups: buildGroupMembers(snapshot) });
  return [
    ...rows.flatMap(findRowProblems),
    ...rows.flatMap(findOwnPauses),
    ...rows.flatMap(findPostponedProblems),
    ...rows.flatMap((row) => findOverrunProblems(row, wall)),
    ...rows.flatMap(findMissedProblems),
    ...findLateProblems(rows, inputs),
    ...findUnservedProblems(rows),
    ...findHookProblems(rows, snapshot),
    ...findMalformedExecutions(snapshot),
    ...findWorkerProblems(snapshot),
  ];
}

function findRowProblems({ id, states, fault, due, definition }: ScheduleRow): Problem[] {
  const subject = `schedule ${id}`;
  if (fault !== undefined && due !== undefined && definition !== undefined) {
    const detail = `it does not fire: ${fault}`; // the fault of a calendar: all of its own can be read
    const remedy = `signalbox calendar add, or signalbox schedule edit ${quoteShellWord(id)} --except '' --only ''`;
    return [createFailure("malformed", subject, detail, remedy)];
  }
  const word = quoteShellWord(id);
  if (fault !== undefined) {
    const action = { command: "schedule delete", args: [id] };
    const remedy = `signalbox schedule delete ${word}, and add it again`;
    return [createFailure("malformed", subject, fault, remedy, { action })];
  }
  const count = due?.dead ?? 0;
  if (count === 0) return [];
  const last = due?.last;
  const latest =
    states.includes("failed") && last !== undefined ? `, the last of ${formatInstant(last.scheduled)}` : "";
  return [
    createWarning(
      "dead-letter",
      subject,
      `${pluralize(count, "dead letter")}: runs that failed and are not tried again${latest}`,
      `signalbox schedule dead ${word}; then schedule trigger ${word} --dead TIME, or schedule bury ${word}`,
    ),
  ];
}

/** Finds schedules that have paused themselves. */
function findOwnPauses({ id, due }: ScheduleRow): Problem[] {
  const [paused, ...more] = listStates(due).filter(([, state]) => state.pause !== undefined);
  if (paused?.[1].pause === undefined) return [];
  const [host, { pause }] = paused;
  const others = more.length === 0 ? "" : ` and ${more.length} more hosts`;
  const where = host === undefined ? "" : ` on ${host}${others}`;
  return [
    createFailure(
      "paused",
      `schedule ${id}`,
      `it has paused itself${where} ${pause.why}, at ${formatInstant(pause.at)}`,
      `find the cause: signalbox show schedule ${quoteShellWord(id)}; then: signalbox schedule resume ${quoteShellWord(id)}`,
      { action: { command: "schedule resume", args: [id] } },
    ),
  ];
}

/** Finds runs that take longer than expected. */
function findOverrunProblems(row: ScheduleRow, wall: WallTime): Problem[] {
  return findOverruns(row, wall).map(({ execution, running: { host, run, since }, most }) =>
    createWarning(
      "overrun",
      `schedule ${row.id}`,
      `${formatExecutionOwner(execution)} has run it for ${formatBriefDuration(wall - since)}; expected: at most ${formatBriefDuration(most)}`,
      `signalbox show schedule ${quoteShellWord(row.id)}`,
      { host, run },
    ),
  );
}

/** Finds schedules that missed occurrences: one problem for each, with the host that has missed most. */
function findMissedProblems(row: ScheduleRow): Problem[] {
  const [worst, ...more] = row.missed.toSorted((a, b) => a.since - b.since);
  if (worst === undefined) return [];
  const others = more.length === 0 ? "" : `; and ${pluralize(more.length, "more host")}`;
  return [
    createWarning(
      "missed",
      `schedule ${row.id}`,
      `nothing has run since ${formatInstant(worst.since)}: ${formatMissedRuns(worst)}${others}`,
      `signalbox show schedule ${quoteShellWord(row.id)}`,
      worst.host === undefined ? {} : { host: worst.host },
    ),
  ];
}

/** Finds occurrences that ask again and again for another start later. */
function findPostponedProblems({ id, due }: ScheduleRow): Problem[] {
  const count = Math.max(0, ...(due?.open ?? []).map(({ postponed = 0 }) => postponed));
  if (count < THRESHOLDS.postponed) return [];
  return [
    createWarning(
      "postponed",
      `schedule ${id}`,
      `a run asked ${count} times for another start later (exit code 75, or the response of a server); after 100 times it fails`,
      `signalbox show schedule ${quoteShellWord(id)}`,
    ),
  ];
}

/** Maximum number of late schedules with their own problem. More become one problem, because they have one cause. */
const MAX_SINGLE_PROBLEMS = 10;

/** Finds schedules that are due and can run, but no worker starts them. None during a drain of everything. */
function findLateProblems(rows: readonly ScheduleRow[], { snapshot, wall }: ProblemInputs): Problem[] {
  const isStopped = [...snapshot.drains.values()].some(
    (drain) => drain.scope === "all" && !hasEnded(drain, wall),
  );
  if (isStopped) return [];
  const late = rows.flatMap(({ id, state, due, definition, next = wall }) =>
    state === "late" && wall - next > THRESHOLDS.late
      ? [
          {
            id,
            over: wall - next,
            needs: definition && formatConditions(definition),
            isAgain: due?.open.some(({ scheduled }) => scheduled === due.last?.scheduled),
          },
        ]
      : [],
  );
  late.sort((a, b) => b.over - a.over);
  const isMany = late.length > MAX_SINGLE_PROBLEMS;
  return late
    .slice(0, isMany ? 1 : MAX_SINGLE_PROBLEMS)
    .map(({ id, over, needs, isAgain }) =>
      createFailure(
        "late",
        `schedule ${id}`,
        `it should have run${isAgain ? " again" : ""} ${formatBriefDuration(over)} ago, and no worker runs it${needs === undefined ? "" : `; ${needs}`}${isMany ? `; ${late.length - 1} more are late` : ""}`,
        isMany ? "signalbox ls workers" : `signalbox show schedule ${quoteShellWord(id)}`,
      ),
    );
}

/** Finds schedules without a worker: one problem for each task type and group, for any number of schedules. */
function findUnservedProblems(rows: readonly ScheduleRow[]): Problem[] {
  const lacking = rows.filter(({ states }) => states.includes("no-worker"));
  const kinds = Map.groupBy(lacking, ({ id, definition }) =>
    definition === undefined
      ? ""
      : formatTaskKind(
          id,
          definition.command ? undefined : getScheduleType(id, definition),
          definition.group,
        ),
  );
  return [...kinds].map(([what, own]) => {
    const ids = own.map(({ id }) => id);
    const detail = `no worker runs ${what}: ${formatShortList(ids, 1)} will not run`;
    return createWarning("no-worker", `schedule ${ids[0]}`, detail, "signalbox ls workers");
  });
}

function formatTaskKind(id: string, type: string | undefined, group: string | undefined): string {
  const what = type === undefined ? "commands" : `tasks of the type ${type === "" ? id : type}`;
  return group === undefined ? what : `${what} on the group ${group}`;
}

/** Finds schedules with hooks that a worker does not call, though it may run their tasks. */
function findHookProblems(rows: readonly ScheduleRow[], snapshot: Snapshot): Problem[] {
  const groups = buildGroupMembers(snapshot);
  const workers = [...snapshot.workers.values()].flatMap(({ value }) =>
    value?.hooks === undefined || value.isLeaving ? [] : [{ ...value, hooks: value.hooks }],
  );
  return rows.flatMap(({ id, definition }) => {
    const hooks = Object.entries(definition?.hooks ?? {});
    if (definition === undefined || hooks.length === 0) return [];
    const silent = workers.filter(
      (worker) =>
        !hooks.every(([, hook]) => isHookPermitted(hook, worker.hooks)) &&
        canWorkerRun(worker, id, definition, groups),
    );
    const [first] = silent;
    if (first === undefined) return [];
    const names = hooks.flatMap(([name, hook]) => (isHookPermitted(hook, first.hooks) ? [] : [name]));
    return createWarning(
      "hooks",
      `schedule ${id}`,
      `${formatShortList([...new Set(silent.map(({ host }) => host))], 3)} may run it, and does not call its hooks ${names.join(", ")}: they are commands`,
      "use addresses, or let the worker run commands: commands: true in its file, hookCommands in a program",
      { host: first.host },
    );
  });
}

/** Finds running keys that block a schedule: they cannot be read, or have no session. */
function findMalformedExecutions({ executions, schedules }: Snapshot): Problem[] {
  return [...executions.values()].flat().flatMap(({ key, id, fault, session }) => {
    const remedy = `etcdctl del ${quoteShellWord(key)}`;
    const subject = schedules.has(id) ? `schedule ${id}` : `key ${key}`;
    if (fault !== undefined) return createFailure("malformed", subject, `${key}: ${fault}`, remedy);
    const detail = `${key} has no session: it never expires`;
    return session === 0n ? createFailure("orphan", subject, detail, remedy) : [];
  });
}

const CLOCKS = {
  warns: "its clock is more than 0.5s off those of other workers",
  refuses: "its clock is more than 5s off those of other workers: it starts nothing",
} as const;

function findWorkerProblems({ workers }: Snapshot): Problem[] {
  return [...workers].flatMap(([id, { value, fault }]) => {
    if (value === undefined) return createWarning("malformed", `worker ${id}`, fault, "signalbox ls workers");
    const { clock, host, pid } = value;
    if (clock === "ok") return [];
    const create = clock === "refuses" ? createFailure : createWarning;
    return create("clock", `worker ${host}:${pid}`, CLOCKS[clock], COMPARE_CLOCKS, { host });
  });
}

/** Formats a queue as `lock invoices`. */
export function formatQueueName({ kind, name }: NamedQueue): string {
  return `${kind} ${name}`;
}
