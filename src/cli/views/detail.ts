import type { AuditRecord } from "../../core/protocol/audit.ts";
import type { RunnerLiveness } from "../../site/state/liveness.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { Remedy, Subject, Tone } from "../../site/state/subject.ts";
import { auditView } from "./audit.ts";
import { selectColumns } from "./columns.ts";
import type { ExplainContext } from "./explanation.ts";
import { sortRange } from "./sort.ts";
import type { TableColumn } from "./view.ts";

/**
 * The details of one object as data, for commands and the console: a heading, facts and sections. Texts may come from
 * etcd, and are not cleaned.
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

/** The part of a column that a section states. */
type DetailColumn = Pick<TableColumn<never>, "title" | "priority" | "align" | "isMarked">;

/** One cell per column. */
export type DetailRow = readonly Cell[];

export interface Cell {
  text: string;
  /** Shorter text with the same meaning. */
  brief?: string;
  /** The same text in ASCII, if it is a drawing. */
  ascii?: string;
  tone?: Tone;
}

/** Inputs for a detail in addition to the snapshot. */
export interface DetailContext extends ExplainContext {
  /** Liveness of the host of the run; undefined if it was not checked. */
  host?: Pick<RunnerLiveness, "verdict" | "text"> | undefined;
}

/** Default number of table rows. Further rows are only counted. */
const DEFAULT_MAX_ROWS = 10;

interface DetailTableOptions<T> {
  /** Maximum number of rows. */
  most?: number;
  /** The order of the rows; that of the items without it. */
  compare?: (a: T, b: T) => number;
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
  columns: readonly TableColumn<T>[],
  items: readonly T[],
  { most = DEFAULT_MAX_ROWS, compare, all, getTarget }: DetailTableOptions<T> = {},
): Section[] {
  if (items.length === 0) return [];
  const where = all === undefined ? "" : `; all: ${all}`;
  const note = items.length > most ? ` (the first ${most} of ${items.length}${where})` : "";
  const shown = compare === undefined ? items.slice(0, most) : [...sortRange(items, compare, { to: most })];
  return [
    {
      kind: "table",
      title: `${title}${note}`,
      columns: columns.map(({ title: name, priority, align, isMarked }) => ({
        title: name,
        priority,
        ...(align && { align }),
        ...(isMarked && { isMarked }),
      })),
      rows: shown.map((item) => columns.map((column) => buildCell(column, item))),
      ...(getTarget && { targets: shown.map(getTarget) }),
    },
  ];
}

function buildCell<T>(column: TableColumn<T>, item: T): Cell {
  return {
    text: column.formatCell(item, 0),
    ...(column.formatBriefCell && { brief: column.formatBriefCell(item) }),
    ...(column.formatAsciiCell && { ascii: column.formatAsciiCell(item) }),
    ...(column.getTone && { tone: column.getTone(item, 0) }),
  };
}

/** Builds facts. Omits facts without a value. */
export function buildFacts(
  facts: readonly (readonly [label: string, value: string | undefined, tone?: Tone])[],
): Fact[] {
  return facts.flatMap(([label, value, tone = "plain"]) =>
    value === undefined || value === "" ? [] : [{ label, value, tone }],
  );
}

const AUDIT_COLUMNS = selectColumns(auditView.columns, { when: 1, who: 1, action: 1, outcome: 2, reason: 2 });

/** Builds the table of operator actions on one object, newest first. @param isAbout  receives the target of a record */
export function buildAuditTable({ audit }: Snapshot, isAbout: (target: string) => boolean): Section[] {
  return buildDetailTable("operators", AUDIT_COLUMNS, filterAuditRecords(audit, isAbout));
}

/** Returns the audit records of one object, newest first. @param isAbout  receives the target of a record */
export function filterAuditRecords(
  audit: ReadonlyMap<string, AuditRecord>,
  isAbout: (target: string) => boolean,
): AuditRecord[] {
  return [...audit.values()].filter(({ target }) => isAbout(target)).sort((a, b) => (a.id < b.id ? 1 : -1));
}
