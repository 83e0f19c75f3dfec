import { formatBriefDuration, formatInstant } from "../base/duration.ts";
import { quoteShellWord } from "../base/shell.ts";
import type { AuditRecord } from "../protocol/audit.ts";
import type { PastRun } from "../protocol/history.ts";
import type { ExplainContext } from "../state/explain.ts";
import type { RunnerLiveness } from "../state/liveness.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Remedy, Subject, Tone } from "../state/subject.ts";
import { formatAuditAuthor, shortenOwner } from "./columns.ts";

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
  /** The same value in ASCII, if it is a drawing. */
  ascii?: string | undefined;
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

interface DetailColumn {
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

/** A column with its cell for each item. A text is a cell without a tone. */
export interface ItemColumn<T> extends DetailColumn {
  getCell(item: T): Cell | string | undefined;
}

/** Inputs for a detail in addition to the snapshot. */
export interface DetailContext extends ExplainContext {
  /** Liveness of the host of the run; undefined if it was not checked. */
  host?: Pick<RunnerLiveness, "verdict" | "text"> | undefined;
}

/** Default number of table rows. Further rows are only counted. */
const MANY = 10;

/** Options of a table section. */
interface DetailTableOptions<T> {
  /** Maximum number of rows. */
  most?: number;
  /** Command that shows all rows. */
  all?: string | undefined;
  /** Returns the target of a row. */
  getTarget?: (item: T) => DetailTarget;
}

/**
 * Builds a table section with a row for each item; none without items. If rows are omitted, the title states the
 * numbers.
 */
export function buildDetailTable<T>(
  title: string,
  columns: readonly ItemColumn<T>[],
  items: readonly T[],
  { most = MANY, all, getTarget }: DetailTableOptions<T> = {},
): Section[] {
  if (items.length === 0) return [];
  const where = all === undefined ? "" : `; all: ${all}`;
  const note = items.length > most ? ` (the first ${most} of ${items.length}${where})` : "";
  const shown = items.slice(0, most);
  return [
    {
      kind: "table",
      title: `${title}${note}`,
      columns: columns.map(({ getCell: _, ...column }) => column),
      rows: shown.map((item) => columns.map(({ getCell }) => toCell(getCell(item)))),
      ...(getTarget && { targets: shown.map(getTarget) }),
    },
  ];
}

function toCell(cell: Cell | string | undefined): Cell {
  return typeof cell === "object" ? cell : { text: cell ?? "" };
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

const AUDIT_COLUMNS: readonly ItemColumn<AuditRecord>[] = [
  { title: "WHEN", priority: 1, getCell: ({ at }) => formatInstant(at) },
  { title: "WHO", priority: 1, getCell: (record) => buildOwnerCell(formatAuditAuthor(record)) },
  { title: "ACTION", priority: 1, getCell: ({ action }) => action },
  { title: "OUTCOME", priority: 2, getCell: ({ outcome }) => outcome },
  { title: "REASON", priority: 2, getCell: ({ reason }) => reason },
];

/** Builds the table of operator actions on one object, newest first. @param isAbout  receives the target of a record */
export function buildAuditTable(
  { audit }: Pick<Snapshot, "audit">,
  isAbout: (target: string) => boolean,
): Section[] {
  return buildDetailTable("operators", AUDIT_COLUMNS, filterAuditRecords(audit, isAbout));
}

/** Returns the audit records of one object, newest first. @param isAbout  receives the target of a record */
export function filterAuditRecords(
  audit: ReadonlyMap<string, AuditRecord>,
  isAbout: (target: string) => boolean,
): AuditRecord[] {
  return [...audit.values()].filter(({ target }) => isAbout(target)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

const PAST_RUN_COLUMNS: readonly ItemColumn<PastRun>[] = [
  { title: "ENDED", priority: 1, getCell: ({ endedAt }) => formatInstant(endedAt) },
  { title: "WHO", priority: 1, getCell: ({ host, pid }) => buildOwnerCell(`${host}:${pid}`) },
  { title: "WAITED", priority: 2, align: "right", getCell: ({ waited }) => formatBriefDuration(waited) },
  { title: "HELD", priority: 2, align: "right", getCell: ({ held }) => formatBriefDuration(held) },
  { title: "EXIT", priority: 1, align: "right", getCell: buildExitCell },
  { title: "COMMAND", priority: 4, getCell: ({ command }) => command },
  { title: "REASON", priority: 2, getCell: ({ reason }) => reason },
];

function buildExitCell({ exit }: PastRun): Cell {
  return { text: String(exit), tone: exit === 0 ? "plain" : "problem" };
}

/** Builds the table of the last runs of a lock. */
export function buildPastRunTable(lock: string, runs: readonly PastRun[]): Section[] {
  return buildDetailTable("history", PAST_RUN_COLUMNS, runs, {
    all: `signalbox history ${quoteShellWord(lock)}`,
    getTarget: (run) => buildPastRunTarget(lock, run),
  });
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
