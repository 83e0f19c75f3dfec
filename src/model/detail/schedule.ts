import { briefDuration, formatDuration, formatInstant } from "../../base/duration.ts";
import { parseCron } from "../../schedule/cron.ts";
import { DEFAULTS, type Definition, typeOf } from "../../schedule/definition.ts";
import { explainCron } from "../../schedule/explain.ts";
import { parseOutcomes } from "../../schedule/outcome.ts";
import { livenessOf, type Pulses } from "../explain-text.ts";
import type { Picture } from "../picture.ts";
import { type ScheduleRow, scheduleRowOf } from "../schedule-row.ts";
import { lackText, nextText, scheduleTone, whoRuns } from "../tables/schedules.ts";
import {
  type Around,
  auditTable,
  type Cell,
  type Detail,
  type Fact,
  known,
  recordsAbout,
  type Section,
  tableOf,
  whoCell,
} from "./detail.ts";
import { deadTable, outcomeTable, tailLines } from "./outcomes.ts";
import { upcomingTable } from "./upcoming.ts";

/** A schedule: when and what, who runs it, what runs next, what became of the last runs. Undefined where there is none. */
export function scheduleDetail(picture: Picture, id: string, { wall, pulses }: Around): Detail | undefined {
  const row = scheduleRowOf(picture, id, wall);
  if (row === undefined) return undefined;
  const outcomes = parseOutcomes(picture.outcomes.get(id));
  return {
    heading: `schedule ${id}: ${row.states.join(", ")}`,
    tone: scheduleTone(row.state),
    facts: facts(row, wall),
    sections: [
      ...executionTable(row, wall, pulses),
      ...openTable(row, wall),
      ...(row.fault === undefined ? upcomingTable(row, wall) : []),
      ...outcomeTable(outcomes.runs),
      ...deadTable(id, outcomes.dead),
      ...tailLines(outcomes),
      ...auditTable(recordsAbout(picture.audit, (target) => isAboutSchedule(target, id))),
    ],
  };
}

/** Whether a record of the audit is about a schedule, alone or among others. */
export function isAboutSchedule(target: string, id: string): boolean {
  if (target === `schedule ${id}`) return true;
  const [, names] = /^schedules (.*?)(?: and \d+ more)?$/s.exec(target) ?? [];
  return names?.split(", ").includes(id) === true;
}

function facts(row: ScheduleRow, wall: number): Fact[] {
  const { id, definition, due, fault, next } = row;
  if (definition === undefined) return known([["malformed", fault, "problem"]]);
  return known([
    ["malformed", fault, "problem"],
    ["paused", pauseText(definition), "problem"],
    ["when", `${explainCron(parseCron(definition.cron))} (${definition.timezone})`],
    ["cron", definition.cron],
    ["next", next === undefined ? undefined : `${nextText(next, wall)}, ${formatInstant(next)}`],
    [
      "no worker",
      row.states.includes("no-worker") ? `none ${lackText(definition.group)}` : undefined,
      "problem",
    ],
    ["type", definition.command === undefined ? typeOf(id, definition) : definition.type],
    ["command", definition.command?.join(" ")],
    ["data", definition.data === undefined ? undefined : JSON.stringify(definition.data)],
    ["environment", Object.keys(definition.env ?? {}).join(" ")],
    ...ruleFacts(definition),
    ["note", definition.note],
    ["source", definition.source],
    ["last", due?.last === undefined ? undefined : `${due.last.result}, ${ago(due.last.endedAt, wall)}`],
  ]);
}

type Line = readonly [label: string, value: string | undefined];

/** What is as usual is not said. */
function ruleFacts(definition: Definition): Line[] {
  const { delay, jitter, deadline, timeout, retries, backoff = DEFAULTS.backoff, end } = definition;
  const time = (ms: number | undefined) => (ms ? formatDuration(ms) : undefined);
  return [
    ["delay", time(delay)],
    ["jitter", jitter ? `up to ${formatDuration(jitter)}` : undefined],
    [
      "catch-up",
      `${definition.catchup ?? DEFAULTS.catchup}${deadline ? `, none later than ${time(deadline)}` : ""}`,
    ],
    ["overlap", definition.overlap ?? DEFAULTS.overlap],
    ["time-out", time(timeout)],
    ["retries", retries ? `${retries}, the first after ${formatDuration(backoff)}` : undefined],
    ["group", definition.group],
    ["leases", definition.leases?.join(" ")],
    ["hooks", Object.keys(definition.hooks ?? {}).join(" ")],
    ["end", end === undefined ? undefined : formatInstant(end)],
  ];
}

function pauseText({ pause }: Definition): string | undefined {
  if (pause === undefined) return undefined;
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `by ${pause.by}, since ${formatInstant(pause.at)}${until}${pause.why === undefined ? "" : `: ${pause.why}`}`;
}

const ago = (at: number, wall: number) => `${briefDuration(wall - at)} ago`;

/** Who runs it now. */
function executionTable({ executions }: ScheduleRow, wall: number, pulses: Pulses): Section[] {
  const rows = executions.map((execution): Cell[] => {
    const { value, fault, token, key } = execution;
    const alive = livenessOf(execution, pulses);
    return [
      value === undefined ? { text: `key ${key}: ${fault}`, tone: "problem" } : whoCell(whoRuns(execution)),
      { text: alive?.verdict ?? "", tone: alive?.verdict === "alive" ? "plain" : "problem" },
      ...texts(value && formatInstant(value.scheduled), value && String(value.attempt)),
      ...texts(value && briefDuration(wall - value.since), value && briefDuration(value.late), String(token)),
    ];
  });
  return tableOf(
    "runs now",
    [
      { title: "WHO", priority: 1 },
      { title: "WORKER", priority: 2 },
      { title: "SCHEDULED", priority: 1 },
      { title: "ATTEMPT", priority: 3, align: "right" },
      { title: "SINCE", priority: 1, align: "right" },
      { title: "LATE", priority: 3, align: "right" },
      { title: "TOKEN", priority: 5, align: "right" },
    ],
    rows,
  );
}

/** What was taken up or triggered, and waits for a start. */
function openTable({ due, executions }: ScheduleRow, wall: number): Section[] {
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const waiting = (due?.open ?? []).filter(({ scheduled }) => !running.has(scheduled));
  const rows = waiting.map(({ scheduled, runAt, attempt, failures, kind }) =>
    texts(formatInstant(scheduled), kind, nextText(runAt, wall), String(attempt), String(failures)),
  );
  return tableOf(
    "to be started",
    [
      { title: "SCHEDULED", priority: 1 },
      { title: "KIND", priority: 2 },
      { title: "DUE", priority: 1 },
      { title: "STARTS", priority: 3, align: "right" },
      { title: "FAILURES", priority: 3, align: "right" },
    ],
    rows,
  );
}

function texts(...all: readonly (string | undefined)[]): Cell[] {
  return all.map((text = "") => ({ text }));
}
