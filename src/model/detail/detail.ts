import { briefDuration, formatInstant } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { Liveness } from "../alive.ts";
import type { Pulses } from "../explain-text.ts";
import { briefWho } from "../tables/cells.ts";
import type { Tone } from "../tables/view.ts";

/**
 * Everything about one thing as data, for a command or the console to paint: what it is, facts, and what stands below.
 * Texts hold other people's words, and are not cleaned.
 */
export interface Detail {
  heading: string;
  tone: Tone;
  facts: readonly Fact[];
  sections: readonly Section[];
}

export interface Fact {
  label: string;
  value: string;
  tone?: Tone;
}

/** Lines of prose, what belongs to one standing in below it; or a table. */
export type Section =
  | { kind: "lines"; title: string; lines: readonly string[] }
  | { kind: "table"; title: string; columns: readonly DetailColumn[]; rows: readonly DetailRow[] };

export interface DetailColumn {
  title: string;
  /** As in `Column`: where there is no room, those with the largest go first. */
  priority: number;
  align?: "right";
  isMarked?: true;
}

/** A cell a column. */
export type DetailRow = readonly Cell[];

export interface Cell {
  text: string;
  /** The same, shorter. */
  brief?: string;
  tone?: Tone;
}

/** What is shown of a thing beside what a picture of it has. */
export interface Around {
  /** Wall clock, ms since the epoch. */
  wall: number;
  pulses: Pulses;
  /** Whether the host of the run in question is there; undefined where nobody asked. */
  host?: Pick<Liveness, "verdict" | "text"> | undefined;
}

/** Rows of a table that are shown; of more, only how many they are. */
const MANY = 10;

/**
 * A table, if it has rows; the title says how many are not shown.
 * @param more.most  rows that are shown
 * @param more.all   the command that shows all of them
 */
export function tableOf(
  title: string,
  columns: readonly DetailColumn[],
  rows: readonly DetailRow[],
  { most = MANY, all }: { most?: number; all?: string } = {},
): Section[] {
  if (rows.length === 0) return [];
  const where = all === undefined ? "" : `; all: ${all}`;
  const note = rows.length > most ? ` (the first ${most} of ${rows.length}${where})` : "";
  return [{ kind: "table", title: `${title}${note}`, columns, rows: rows.slice(0, most) }];
}

/** Facts without those of which nothing is known. */
export function known(
  facts: readonly (readonly [label: string, value: string | undefined, tone?: Tone])[],
): Fact[] {
  return facts.flatMap(([label, value, tone = "plain"]) =>
    value === undefined || value === "" ? [] : [{ label, value, tone }],
  );
}

/** Who a ticket is of, short for where there is little room. */
export function whoCell(who: string): Cell {
  return { text: who, brief: briefWho(who) };
}

/** What operators did to a thing, newest first. */
export function auditTable(records: readonly AuditRecord[]): Section[] {
  return tableOf(
    "operators",
    [
      { title: "WHEN", priority: 1 },
      { title: "WHO", priority: 1 },
      { title: "ACTION", priority: 1 },
      { title: "OUTCOME", priority: 2 },
      { title: "REASON", priority: 2 },
    ],
    records.map(({ at, user, sudoUser, host, action, outcome, reason }) => [
      { text: formatInstant(at) },
      whoCell(`${sudoUser === undefined ? user : `${sudoUser} as ${user}`}@${host}`),
      ...[{ text: action }, { text: outcome }, { text: reason ?? "" }],
    ]),
  );
}

/** Records about one thing, newest first. @param isAbout  told a record's target */
export function recordsAbout(
  audit: ReadonlyMap<string, AuditRecord>,
  isAbout: (target: string) => boolean,
): AuditRecord[] {
  return [...audit.values()].filter(({ target }) => isAbout(target)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** The last runs of a lock. */
export function pastTable(lock: string, runs: readonly PastRun[]): Section[] {
  return tableOf(
    "history",
    [
      { title: "ENDED", priority: 1 },
      { title: "WHO", priority: 1 },
      { title: "WAITED", priority: 2, align: "right" },
      { title: "HELD", priority: 2, align: "right" },
      { title: "EXIT", priority: 1, align: "right" },
      { title: "COMMAND", priority: 4 },
      { title: "REASON", priority: 2 },
    ],
    runs.map(({ endedAt, host, pid, waited, held, exit, command, reason }) => [
      ...[{ text: formatInstant(endedAt) }, whoCell(`${host}:${pid}`)],
      ...[{ text: briefDuration(waited) }, { text: briefDuration(held) }],
      { text: String(exit), tone: exit === 0 ? ("plain" as const) : ("problem" as const) },
      ...[{ text: command }, { text: reason ?? "" }],
    ]),
    { all: `signalbox history ${shellWord(lock)}` },
  );
}
