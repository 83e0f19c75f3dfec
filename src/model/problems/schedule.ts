import { briefDuration, formatInstant } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { typeOf } from "../../schedule/definition.ts";
import { membersOf, type Picture } from "../picture.ts";
import { type ScheduleRow, scheduleRows } from "../schedule-row.ts";
import type { Look, Problem } from "./problem.ts";

/** What is wrong with schedules, and with those who run them. */
export function scheduleProblems(look: Look): Problem[] {
  const { picture, wall } = look;
  if (picture.schedules.size === 0) return workerProblems(picture);
  const rows = scheduleRows(picture, { wall, groups: membersOf(picture) });
  return [
    ...rows.flatMap(rowProblems),
    ...lateProblems(rows, look),
    ...unserved(rows),
    ...malformedRunning(picture),
    ...workerProblems(picture),
  ];
}

function rowProblems({ id, states, fault, due }: ScheduleRow): Problem[] {
  const subject = `schedule ${id}`;
  if (fault !== undefined) {
    const remedy = `signalbox schedule delete ${shellWord(id)}, and add it again`;
    return [{ kind: "malformed", level: "failure", subject, detail: fault, remedy }];
  }
  const count = due?.dead ?? 0;
  if (count === 0) return [];
  const last = due?.last;
  const latest =
    states.includes("failed") && last !== undefined ? `, the last of ${formatInstant(last.scheduled)}` : "";
  const word = shellWord(id);
  return [
    {
      ...{ kind: "dead-letter", level: "warning", subject },
      detail: `${count} dead letter${count === 1 ? "" : "s"}: runs that failed and are not tried again${latest}`,
      remedy: `signalbox schedule dead ${word}; then schedule trigger ${word} --dead TIME, or schedule bury ${word}`,
    },
  ];
}

/** Late schedules that have a line each; of more, one speaks for all: they have one reason. */
const MANY = 10;

/** What no catch-up explains: it is due, could run, and nobody runs it. */
function lateProblems(rows: readonly ScheduleRow[], { picture, wall, patience }: Look): Problem[] {
  const isStopped = [...picture.drains.values()].some(
    (drain) => drain.scope === "all" && !hasEnded(drain, wall),
  );
  if (isStopped) return [];
  const late = rows.flatMap(({ id, state, next = wall }) =>
    state === "late" && wall - next > patience.late ? [{ id, over: wall - next }] : [],
  );
  late.sort((a, b) => b.over - a.over);
  const isMany = late.length > MANY;
  return late.slice(0, isMany ? 1 : MANY).map(({ id, over }) => ({
    ...{ kind: "late", level: "failure", subject: `schedule ${id}` },
    detail: `it should have run ${briefDuration(over)} ago, and nobody runs it${isMany ? `; so it is with ${late.length - 1} more` : ""}`,
    remedy: isMany ? "signalbox ls workers" : `signalbox show schedule ${shellWord(id)}`,
  }));
}

/** One line for each kind of task and group, however many schedules have it. */
function unserved(rows: readonly ScheduleRow[]): Problem[] {
  const lacking = rows.filter(({ states }) => states.includes("no-worker"));
  const kinds = Map.groupBy(lacking, ({ id, definition }) =>
    definition === undefined
      ? ""
      : kindOf(id, definition.command ? undefined : typeOf(id, definition), definition.group),
  );
  return [...kinds].map(([what, own]) => {
    const [first] = own;
    const more = own.length > 1 ? ` and ${own.length - 1} more` : "";
    return {
      ...{ kind: "no-worker", level: "warning", subject: `schedule ${first?.id ?? ""}` },
      detail: `no worker runs ${what}: ${first?.id ?? ""}${more} will not run`,
      remedy: "signalbox ls workers",
    };
  });
}

function kindOf(id: string, type: string | undefined, group: string | undefined): string {
  const what = type === undefined ? "commands" : `tasks of the type ${type === "" ? id : type}`;
  return group === undefined ? what : `${what} on the group ${group}`;
}

/** Keys that stand in the way of a schedule, and nobody can read. */
function malformedRunning({ executions, schedules }: Picture): Problem[] {
  return [...executions.values()].flat().flatMap(({ key, id, fault, session }): Problem[] => {
    const remedy = `etcdctl del ${shellWord(key)}`;
    const subject = schedules.has(id) ? `schedule ${id}` : `key ${key}`;
    if (fault !== undefined)
      return [{ kind: "malformed", level: "failure", subject, detail: `${key}: ${fault}`, remedy }];
    const detail = `${key} is on no session: it never expires`;
    return session === 0n ? [{ kind: "orphan", level: "failure", subject, detail, remedy }] : [];
  });
}

const CLOCKS = {
  warns: "its clock is more than 0.5s off those of other workers",
  refuses: "its clock is more than 5s off those of other workers: it starts nothing",
} as const;

function workerProblems({ workers }: Picture): Problem[] {
  return [...workers].flatMap(([id, { value, fault }]): Problem[] => {
    if (value === undefined)
      return [
        {
          ...{ kind: "malformed", level: "warning", subject: `worker ${id}`, detail: fault ?? "" },
          remedy: "signalbox ls workers",
        },
      ];
    const { clock, host, pid } = value;
    if (clock === "ok") return [];
    const level = clock === "refuses" ? "failure" : "warning";
    return [
      {
        ...{ kind: "clock", level, subject: `worker ${host}:${pid}`, host, detail: CLOCKS[clock] },
        remedy: "compare the clocks of the hosts (ntp)",
      },
    ];
  });
}
