import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { SessionLivenessMap } from "../explain/explain-text.ts";
import type { RunnerLiveness } from "../rows/liveness.ts";
import { shortenOwner } from "../tables/cells.ts";
import type { Remedy } from "../views/remedy.ts";
import type { Subject, Tone } from "../views/view.ts";

/**
 * The details of one object as data, for commands and the console: a heading, facts and sections. Texts may come from
 * etcd, and are not cleaned.
 */
export interface Detail {
  heading: string;
  tone: Tone;
  /** Sections shown directly below the heading, such as the last output. */
  evidence?: readonly Section[];
  facts: readonly Fact[];
  sections: readonly Section[];
}

export interface Fact {
  label: string;
  value: string;
  tone?: Tone;
}

/** A section: lines of text, where dependent lines are indented, or a table. */
export type Section =
  | { kind: "lines"; title: string; lines: readonly string[] }
  | {
      kind: "table";
      title: string;
      columns: readonly DetailColumn[];
      rows: readonly DetailRow[];
      /** Targets of the rows, in the same order. */
      targets?: readonly DetailTarget[];
    };

/** The target that opens when a row is selected. */
export interface DetailTarget {
  title: string;
  /** The object, for actions. */
  subject?: Subject;
  /** A command that solves the problem. */
  remedy?: Remedy;
  /** Text about it. */
  lines?: readonly string[];
}

export interface DetailColumn {
  title: string;
  /** As in `TableColumn`: columns with the largest number are hidden first. */
  priority: number;
  align?: "right";
  isMarked?: true;
}

/** One cell per column. */
export type DetailRow = readonly Cell[];

export interface Cell {
  text: string;
  /** Shorter text with the same meaning. */
  brief?: string;
  tone?: Tone;
}

/** Inputs for a detail in addition to the snapshot. */
export interface DetailContext {
  /** Wall clock, ms since the epoch. */
  wall: number;
  sessions: SessionLivenessMap;
  /** Liveness of the host of the run; undefined if it was not checked. */
  host?: Pick<RunnerLiveness, "verdict" | "text"> | undefined;
}

/** Default number of table rows. Further rows are only counted. */
const MANY = 10;

/**
 * Builds a table section; none without rows. If rows are omitted, the title states the numbers.
 * @param most     maximum number of rows
 * @param all      command that shows all rows
 * @param targets  target of each row
 */
export function buildDetailTable(
  title: string,
  columns: readonly DetailColumn[],
  rows: readonly DetailRow[],
  { most = MANY, all, targets }: { most?: number; all?: string; targets?: readonly DetailTarget[] } = {},
): Section[] {
  if (rows.length === 0) return [];
  const where = all === undefined ? "" : `; all: ${all}`;
  const note = rows.length > most ? ` (the first ${most} of ${rows.length}${where})` : "";
  return [
    {
      kind: "table",
      title: `${title}${note}`,
      columns,
      rows: rows.slice(0, most),
      ...(targets && { targets }),
    },
  ];
}

/** Builds facts. Omits facts without a value. */
export function buildFacts(
  facts: readonly (readonly [label: string, value: string | undefined, tone?: Tone])[],
): Fact[] {
  return facts.flatMap(([label, value, tone = "plain"]) =>
    value === undefined || value === "" ? [] : [{ label, value, tone }],
  );
}

/** Builds a cell with an owner, and a short form for narrow terminals. */
export function buildOwnerCell(who: string): Cell {
  return { text: who, brief: shortenOwner(who) };
}

/** Builds the table of operator actions. */
export function buildAuditTable(records: readonly AuditRecord[]): Section[] {
  return buildDetailTable(
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
      buildOwnerCell(`${sudoUser === undefined ? user : `${sudoUser} as ${user}`}@${host}`),
      ...[{ text: action }, { text: outcome }, { text: reason ?? "" }],
    ]),
  );
}

/** Returns the audit records of one object, newest first. @param isAbout  receives the target of a record */
export function filterAuditRecords(
  audit: ReadonlyMap<string, AuditRecord>,
  isAbout: (target: string) => boolean,
): AuditRecord[] {
  return [...audit.values()].filter(({ target }) => isAbout(target)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Builds the table of the last runs of a lock. */
export function buildPastRunTable(lock: string, runs: readonly PastRun[]): Section[] {
  return buildDetailTable(
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
      ...[{ text: formatInstant(endedAt) }, buildOwnerCell(`${host}:${pid}`)],
      ...[{ text: formatBriefDuration(waited) }, { text: formatBriefDuration(held) }],
      { text: String(exit), tone: exit === 0 ? ("plain" as const) : ("problem" as const) },
      ...[{ text: command }, { text: reason ?? "" }],
    ]),
    {
      all: `signalbox history ${quoteShellWord(lock)}`,
      targets: runs.map((run) => buildPastRunTarget(lock, run)),
    },
  );
}

function buildPastRunTarget(lock: string, run: PastRun): DetailTarget {
  const { host, pid, command, exit, reason, waited, held, grantedAt, endedAt, token } = run;
  return {
    title: `run ${run.run} of lock ${lock}`,
    lines: [
      `${command} on ${host}:${pid} ended with ${exit}${reason === undefined ? "" : ` (${reason})`}`,
      `granted ${formatInstant(grantedAt)}, ended ${formatInstant(endedAt)}`,
      `waited ${formatBriefDuration(waited)}, held ${formatBriefDuration(held)}, token ${token}`,
    ],
  };
}
