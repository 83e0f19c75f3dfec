import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { getScheduleType } from "../../schedule/definition.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { buildScheduleRows, type ScheduleRow } from "../rows/schedule-row.ts";
import { buildGroupMembers, type Snapshot } from "../snapshot/snapshot.ts";
import { type Problem, type ProblemInputs, THRESHOLDS } from "./problem.ts";

/** Finds the problems of schedules and workers. */
export function findScheduleProblems(inputs: ProblemInputs): Problem[] {
  const { snapshot, wall } = inputs;
  if (snapshot.schedules.size === 0) return findWorkerProblems(snapshot);
  const rows = buildScheduleRows(snapshot, { wall, groups: buildGroupMembers(snapshot) });
  return [
    ...rows.flatMap(findRowProblems),
    ...rows.flatMap(findPostponedProblems),
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
  const late = rows.flatMap(({ id, state, due, next = wall }) =>
    state === "late" && wall - next > THRESHOLDS.late
      ? [
          {
            id,
            over: wall - next,
            isAgain: due?.open.some(({ scheduled }) => scheduled === due.last?.scheduled),
          },
        ]
      : [],
  );
  late.sort((a, b) => b.over - a.over);
  const isMany = late.length > MANY;
  return late.slice(0, isMany ? 1 : MANY).map(({ id, over, isAgain }) => ({
    kind: "late",
    level: "failure",
    subject: `schedule ${id}`,
    detail: `it should have run${isAgain ? " again" : ""} ${formatBriefDuration(over)} ago, and no worker runs it${isMany ? `; ${late.length - 1} more are late` : ""}`,
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
