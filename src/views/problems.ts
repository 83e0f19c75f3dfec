import { formatBriefDuration, formatInstant } from "../base/duration.ts";
import type { Finding } from "../base/finding.ts";
import { quoteShellWord } from "../base/shell.ts";
import { formatShortList } from "../base/text.ts";
import { canonicalizeHost, listGroupHosts, listGroupNotes } from "../fleet/groups.ts";
import { HOST_RECORD_INTERVAL } from "../fleet/host-record.ts";
import { hasEnded } from "../protocol/drain.ts";
import { describeVanished, type QueueEntry, type Ticket } from "../protocol/ticket.ts";
import { formatConditions, getScheduleType } from "../schedule/definition.ts";
import type { DueState } from "../schedule/state/due.ts";
import { listStates } from "../schedule/state/host-states.ts";
import { formatTicketOwner } from "../state/claims.ts";
import { findPlainTotal } from "../state/eviction-preview.ts";
import { isSeenWithin } from "../state/liveness.ts";
import {
  buildProblemId,
  formatQueueName,
  PROBLEM_KINDS,
  type Problem,
  type ProblemInputs,
  THRESHOLDS,
} from "../state/problem.ts";
import { buildGroupMembers, type NamedQueue, type Snapshot } from "../state/snapshot.ts";
import { computeTypicalHeld, computeTypicalWaited } from "../state/statistics.ts";
import type { Remedy } from "../state/subject.ts";
import { parseSubject } from "../state/subject.ts";
import { CONTEXT_COLLECTIONS } from "../state/view-context.ts";
import { describeChoice, describeObject, describeText } from "./json.ts";
import { buildScheduleRows, findOverruns, formatExecutionOwner, type ScheduleRow } from "./schedules.ts";
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
    {
      id: "level",
      title: "LEVEL",
      priority: 1,
      isMarked: true,
      formatCell: ({ level }) => level,
      getSortValue: ({ level }) => (level === "failure" ? 0 : 1),
      getTone: ({ level }) => (level === "failure" ? "problem" : "waiting"),
    },
    { id: "kind", title: "KIND", priority: 3, formatCell: ({ kind }) => kind },
    { id: "subject", title: "SUBJECT", priority: 1, formatCell: ({ subject }) => subject },
    { id: "detail", title: "DETAIL", priority: 1, below: "sentence", formatCell: ({ detail }) => detail },
    { id: "remedy", title: "REMEDY", priority: 2, below: "line", formatCell: ({ remedy }) => remedy },
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

/**
 * Finds the problems in a snapshot, failures first. Collections that were not read have no problems.
 * @param wall  wall clock, ms since the epoch
 */
export function findProblems(snapshot: Snapshot, wall: number): Problem[] {
  const inputs = { snapshot, wall };
  const found = [
    ...(snapshot.etcdFaults ?? []).map(toProblem),
    ...Array.from(snapshot.strange, ([key, fault]) => buildUnknownKeyProblem(key, fault)),
    ...Array.from(snapshot.queues.values()).flatMap((queue) => findQueueProblems(queue, inputs)),
    ...findMalformedConfig(snapshot),
    ...findDrainProblems(snapshot, wall),
    ...findGroupProblems(inputs),
    ...findHostProblems(inputs),
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

/** Builds the problem for a key that is not from signalbox. */
export function buildUnknownKeyProblem(key: string, fault: string): Problem {
  const remedy = `if no other program needs it: etcdctl del ${quoteShellWord(key)}`;
  return { kind: "malformed", level: "warning", subject: `key ${key}`, detail: fault, remedy };
}

/** Finds configuration values that cannot be read. */
export function findMalformedConfig({ resources, groups }: Snapshot): Problem[] {
  const listMalformed = (what: string, kept: Snapshot["resources"] | Snapshot["groups"]) =>
    [...kept].flatMap(([name, { fault }]): Problem[] =>
      fault === undefined
        ? []
        : [
            {
              kind: "malformed",
              level: "failure",
              subject: `${what} ${name}`,
              detail: fault,
              remedy: `signalbox ${what} set ${quoteShellWord(name)} …`,
            },
          ],
    );
  return [...listMalformed("resource", resources), ...listMalformed("group", groups)];
}

/** Finds drains that have expired but still exist. */
export function findDrainProblems({ drains }: Snapshot, wall: number): Problem[] {
  return [...drains.values()]
    .filter((drain) => hasEnded(drain, wall))
    .map(({ scope, name, until = wall }) => ({
      kind: "drain-ended",
      level: "warning",
      subject: scope === "all" ? "drain of everything" : `drain of ${scope} ${name}`,
      detail: `it ended by itself ${formatBriefDuration(wall - until)} ago, but was not deleted: it stops nothing`,
      remedy: `signalbox undrain ${scope}${scope === "all" ? "" : ` ${quoteShellWord(name)}`}`,
      action: { command: "undrain", args: scope === "all" ? [scope] : [scope, name] },
    }));
}

/**
 * Finds hosts with tickets but without a recent host record. Without any host record there are no findings: the hosts
 * run a version that does not write records.
 */
function findHostProblems({ snapshot, wall }: ProblemInputs): Problem[] {
  if (snapshot.hosts.size === 0) return [];
  const silent = new Map<string, number>();
  for (const { ticket } of [...snapshot.queues.values()].flatMap(({ entries }) => entries)) {
    if (ticket === undefined || ticket.enqueuedAt > wall - THRESHOLDS.word) continue;
    const seen = snapshot.hosts.get(canonicalizeHost(ticket.host))?.seenAt ?? 0;
    // A host writes its record together with a claim, at most once per HOST_RECORD_INTERVAL.
    if (ticket.enqueuedAt - seen > HOST_RECORD_INTERVAL + THRESHOLDS.clock)
      silent.set(ticket.host, (silent.get(ticket.host) ?? 0) + 1);
  }
  return [...silent].map(([host, tickets]) => ({
    kind: "host",
    level: "warning",
    subject: `host ${host}`,
    host,
    detail: `it has tickets in queues (${tickets}), but no host record`,
    remedy: "signalbox init on that host checks whether its role may write hosts/",
  }));
}

/** Finds possible mistakes in groups, and group hosts that were not seen lately and have no worker. */
export function findGroupProblems({ snapshot, wall }: ProblemInputs): Problem[] {
  const groups = buildGroupMembers(snapshot);
  const notes = listGroupNotes(groups).map(
    (detail): Problem => ({
      kind: "group",
      level: "warning",
      subject: "groups",
      detail,
      remedy: "signalbox ls groups",
    }),
  );
  const working = new Set(
    [...snapshot.workers.values()].map(({ value }) => value && canonicalizeHost(value.host)),
  );
  const unseen = [...groups.keys()].flatMap((group): Problem[] => {
    const missing = listGroupHosts(groups, group).filter(
      (host) =>
        !working.has(canonicalizeHost(host)) &&
        !isSeenWithin(snapshot.hosts.get(canonicalizeHost(host)), THRESHOLDS.host, wall),
    );
    if (missing.length === 0) return [];
    return [
      {
        kind: "host",
        level: "warning",
        subject: `group ${group}`,
        detail: `not seen for ${formatBriefDuration(THRESHOLDS.host)}: ${formatShortList(missing, 3)}`,
        remedy: `is cron or a worker running there? Or take them out: signalbox group remove ${quoteShellWord(group)} HOST`,
      },
    ];
  });
  return [...notes, ...unseen];
}

/** Finds the problems of one queue. */
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
  return findEntriesBefore(held, ({ grantedAt }) => grantedAt, wall - limit).map(({ entry, since }) => ({
    kind: "long-hold",
    level: "warning",
    subject: formatQueueName(queue),
    ...toProblemRun(entry),
    detail: `${formatTicketOwner(entry)} has held it for ${formatBriefDuration(wall - since)}${formatUsual(usual?.p95)}`,
    remedy: `signalbox show ${queue.kind} ${quoteShellWord(queue.name)}`,
  }));
}

/** Finds runs that wait long, and much longer than past runs of the lock. */
function findWaitProblems(queue: NamedQueue, { snapshot, wall }: ProblemInputs): Problem[] {
  const usual =
    queue.kind === "lock" ? computeTypicalWaited(snapshot.histories.get(queue.name) ?? []) : undefined;
  const limit = Math.max(THRESHOLDS.wait, THRESHOLDS.unusual * (usual?.p95 ?? 0));
  const waiting = queue.entries.filter(({ ticket }) => ticket !== undefined && isWaiting(ticket));
  const found = findEntriesBefore(waiting, ({ enqueuedAt }) => enqueuedAt, wall - limit);
  const [first] = found;
  if (first === undefined) return [];
  // Runs behind the first wait for the same reason, so there is one problem per queue.
  const more = found.length === 1 ? "" : `, and ${found.length - 1} behind it nearly as long`;
  return [
    {
      kind: "long-wait",
      level: "warning",
      subject: formatQueueName(queue),
      ...toProblemRun(first.entry),
      detail: `${formatTicketOwner(first.entry)} has waited for ${formatBriefDuration(wall - first.since)}${more}${formatUsual(usual?.p95)}`,
      remedy: `signalbox why ${quoteShellWord(first.entry.run)}`,
    },
  ];
}

function toProblemRun({ run, ticket }: QueueEntry): Pick<Problem, "host" | "run"> {
  return { run, ...(ticket && { host: ticket.host }) };
}

const isWaiting = ({ state }: Ticket) => state === "waiting" || state === "admitted";

/** Finds entries whose instant is before a limit. Instants in ms since the epoch. */
function findEntriesBefore(
  entries: readonly QueueEntry[],
  instant: (ticket: Ticket) => number | undefined,
  before: number,
): { entry: QueueEntry; since: number }[] {
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
  const remedy = `signalbox resource set ${quoteShellWord(queue.name)} TOTAL, and leave totals out of --lease`;
  const disagreement: Problem = {
    kind: "totals",
    level: "warning",
    subject,
    remedy,
    action: { command: "resource set", args: [queue.name] },
    detail: `runs state totals of ${totals.join(", ")}${config}`,
  };
  return [
    ...(disagree ? [disagreement] : []),
    ...large.map(
      ({ host, pid, count, run }): Problem => ({
        kind: "too-large",
        level: "warning",
        subject,
        host,
        run,
        detail: `${host}:${pid} asks for ${count} units, but there are only ${configured}`,
        remedy: "it gives up by itself at its next check; ask for less",
      }),
    ),
  ];
}

const PRUNE: Remedy = { command: "prune", args: [], flags: { vanished: true } };

/** Finds the problems of one ticket. */
function findTicketProblems(queue: NamedQueue, entry: QueueEntry, { wall }: ProblemInputs): Problem[] {
  const { ticket } = entry;
  const subject = formatQueueName(queue);
  const remedy = formatForcedReset(queue, entry);
  const action = buildForcedReset(queue, entry);
  if (ticket === undefined) {
    const detail = `the ticket ${entry.key} cannot be read; it counts as all units, so nothing behind it is granted`;
    return [{ kind: "malformed", level: "failure", subject, detail, remedy, action, run: entry.run }];
  }
  const about = { subject, host: ticket.host, run: entry.run, remedy, action };
  const { action: _, ...unhelped } = about;
  const asked = ticket.reset === undefined ? 0 : wall - ticket.reset.at;
  const ahead = ticket.enqueuedAt - wall;
  const found: (Problem | false)[] = [
    entry.vanished !== undefined && {
      ...about,
      kind: "vanished",
      level: "warning",
      remedy: "signalbox prune --vanished",
      action: PRUNE,
      detail: `${formatTicketOwner(entry)} held it: ${describeVanished(entry.vanished)}, once a run asks for it`,
    },
    entry.vanished === undefined &&
      entry.session === 0n && {
        ...about,
        kind: "orphan",
        level: "failure",
        detail: `${formatTicketOwner(entry)} has a ticket without a session: it never expires`,
      },
    isOverdue(ticket, wall) && {
      ...about,
      kind: "overdue",
      level: "warning",
      detail: `${formatTicketOwner(entry)} keeps its place after the end of its grace`,
    },
    asked > THRESHOLDS.reset && {
      ...about,
      kind: "reset-unanswered",
      level: "warning",
      detail: `${formatTicketOwner(entry)} was asked to end ${formatBriefDuration(asked)} ago, and has not ended`,
    },
    ahead > THRESHOLDS.clock && {
      ...unhelped,
      kind: "clock",
      level: "warning",
      remedy: "compare the clocks of the hosts (ntp)",
      detail: `${formatTicketOwner(entry)} wrote a time ${formatBriefDuration(ahead)} ahead of this host's clock`,
    },
  ];
  return found.filter((one) => one !== false);
}

/** Formats a reset that removes the ticket without its runner. A key put by hand has its last segment as run id. */
function formatForcedReset({ kind, name }: NamedQueue, { run }: QueueEntry): string {
  return `signalbox reset ${kind} ${quoteShellWord(name)} --run ${quoteShellWord(run)} --force`;
}

function buildForcedReset({ kind, name }: NamedQueue, { run }: QueueEntry): Remedy {
  return { command: "reset", args: [kind, name], flags: { run, force: true } };
}

function isOverdue({ state, until }: Ticket, wall: number): boolean {
  return state === "grace" && until !== undefined && hasEnded({ until }, wall);
}

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
    ...findLateProblems(rows, inputs),
    ...findUnservedProblems(rows),
    ...findMalformedExecutions(snapshot),
    ...findWorkerProblems(snapshot),
  ];
}

function findRowProblems({ id, states, fault, due, definition }: ScheduleRow): Problem[] {
  const subject = `schedule ${id}`;
  if (fault !== undefined && due !== undefined && definition !== undefined) {
    const detail = `it does not fire: ${fault}`; // the fault of a calendar: all of its own can be read
    const remedy = `signalbox calendar add, or signalbox schedule edit ${quoteShellWord(id)} --except '' --only ''`;
    return [{ kind: "malformed", level: "failure", subject, detail, remedy }];
  }
  if (fault !== undefined) {
    const remedy = `signalbox schedule delete ${quoteShellWord(id)}, and add it again`;
    const action = { command: "schedule delete", args: [id] };
    return [{ kind: "malformed", level: "failure", subject, detail: fault, remedy, action }];
  }
  const count = due?.dead ?? 0;
  if (count === 0) return [];
  const last = due?.last;
  const latest =
    states.includes("failed") && last !== undefined ? `, the last of ${formatInstant(last.scheduled)}` : "";
  const word = quoteShellWord(id);
  return [
    {
      kind: "dead-letter",
      level: "warning",
      subject,
      detail: `${count} dead letter${count === 1 ? "" : "s"}: runs that failed and are not tried again${latest}`,
      remedy: `signalbox schedule dead ${word}; then schedule trigger ${word} --dead TIME, or schedule bury ${word}`,
    },
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
    {
      kind: "paused",
      level: "failure",
      subject: `schedule ${id}`,
      detail: `it has paused itself${where} ${pause.why}, at ${formatInstant(pause.at)}`,
      remedy: `find the cause: signalbox show schedule ${quoteShellWord(id)}; then: signalbox schedule resume ${quoteShellWord(id)}`,
      action: { command: "schedule resume", args: [id] },
    },
  ];
}

/** Finds runs that take longer than expected. */
function findOverrunProblems(row: ScheduleRow, wall: number): Problem[] {
  return findOverruns(row, wall).map(({ execution, running, most }) => ({
    kind: "overrun",
    level: "warning",
    subject: `schedule ${row.id}`,
    host: running.host,
    run: running.run,
    detail: `${formatExecutionOwner(execution)} has run it for ${formatBriefDuration(wall - running.since)}; expected: at most ${formatBriefDuration(most)}`,
    remedy: `signalbox show schedule ${quoteShellWord(row.id)}`,
  }));
}

/** Finds occurrences that ask again and again for another start later. */
function findPostponedProblems({ id, due }: ScheduleRow): Problem[] {
  const count = countPostponements(due);
  if (count < THRESHOLDS.postponed) return [];
  return [
    {
      kind: "postponed",
      level: "warning",
      subject: `schedule ${id}`,
      detail: `a run asked ${count} times for another start later (exit code 75, or the response of a server); after 100 times it fails`,
      remedy: `signalbox show schedule ${quoteShellWord(id)}`,
    },
  ];
}

function countPostponements(due: DueState | undefined): number {
  return Math.max(0, ...(due?.open ?? []).map(({ postponed = 0 }) => postponed));
}

/** Maximum number of late schedules with their own problem. More become one problem, because they have one cause. */
const MANY = 10;

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
  const isMany = late.length > MANY;
  return late.slice(0, isMany ? 1 : MANY).map(({ id, over, needs, isAgain }) => ({
    kind: "late",
    level: "failure",
    subject: `schedule ${id}`,
    detail: `it should have run${isAgain ? " again" : ""} ${formatBriefDuration(over)} ago, and no worker runs it${needs === undefined ? "" : `; ${needs}`}${isMany ? `; ${late.length - 1} more are late` : ""}`,
    remedy: isMany ? "signalbox ls workers" : `signalbox show schedule ${quoteShellWord(id)}`,
  }));
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
    const [first] = own;
    const more = own.length > 1 ? ` and ${own.length - 1} more` : "";
    return {
      kind: "no-worker",
      level: "warning",
      subject: `schedule ${first?.id ?? ""}`,
      detail: `no worker runs ${what}: ${first?.id ?? ""}${more} will not run`,
      remedy: "signalbox ls workers",
    };
  });
}

function formatTaskKind(id: string, type: string | undefined, group: string | undefined): string {
  const what = type === undefined ? "commands" : `tasks of the type ${type === "" ? id : type}`;
  return group === undefined ? what : `${what} on the group ${group}`;
}

/** Finds running keys that block a schedule: they cannot be read, or have no session. */
function findMalformedExecutions({ executions, schedules }: Snapshot): Problem[] {
  return [...executions.values()].flat().flatMap(({ key, id, fault, session }): Problem[] => {
    const remedy = `etcdctl del ${quoteShellWord(key)}`;
    const subject = schedules.has(id) ? `schedule ${id}` : `key ${key}`;
    if (fault !== undefined)
      return [{ kind: "malformed", level: "failure", subject, detail: `${key}: ${fault}`, remedy }];
    const detail = `${key} has no session: it never expires`;
    return session === 0n ? [{ kind: "orphan", level: "failure", subject, detail, remedy }] : [];
  });
}

const CLOCKS = {
  warns: "its clock is more than 0.5s off those of other workers",
  refuses: "its clock is more than 5s off those of other workers: it starts nothing",
} as const;

function findWorkerProblems({ workers }: Snapshot): Problem[] {
  return [...workers].flatMap(([id, { value, fault }]): Problem[] => {
    if (value === undefined)
      return [
        {
          kind: "malformed",
          level: "warning",
          subject: `worker ${id}`,
          detail: fault ?? "",
          remedy: "signalbox ls workers",
        },
      ];
    const { clock, host, pid } = value;
    if (clock === "ok") return [];
    const level = clock === "refuses" ? "failure" : "warning";
    return [
      {
        kind: "clock",
        level,
        subject: `worker ${host}:${pid}`,
        host,
        detail: CLOCKS[clock],
        remedy: "compare the clocks of the hosts (ntp)",
      },
    ];
  });
}
