import type { WallTime } from "../../core/base/clock.ts";
import type { Collection, NamedQueue, Snapshot } from "../../site/state/snapshot.ts";
import type { Share, Subject, Tone } from "../../site/state/subject.ts";
import type { ViewContext } from "../../site/state/view-context.ts";
import type { JsonObject } from "./json.ts";

/** A column of a table. Texts may come from etcd, and are not cleaned. */
export interface TableColumn<R> {
  id: string;
  title: string;
  /** Columns with the largest number are hidden first if there is too little width. 9: shown only on demand. */
  priority: number;
  align?: "right";
  /** @param wall  It is a parameter because unchanged rows are reused for any time */
  formatCell(row: R, wall: WallTime): string;
  /** The text is a duration that changes with time. Filters ignore it. */
  isTimed?: true;
  /** The text is random. Filters only match its prefix, because short words would match by chance. */
  isRandom?: true;
  /** Returns a shorter text for narrow terminals, with the same meaning for users who know the site. */
  formatBriefCell?(row: R): string;
  /** Moves to separate lines below the row if there is too little width: as a sentence, or as a line to copy. */
  below?: "sentence" | "line";
  /** Shows the tone also as a mark, so that no information depends on colour alone. */
  isMarked?: true;
  /** Returns the same text in ASCII, for a cell that is a drawing. Filters and facts ignore drawings. */
  formatAsciiCell?(row: R): string;
  /** Returns the number that filters compare, or a duration in ms; undefined for an empty cell. */
  getMeasure?(row: R, wall: WallTime): number | undefined;
  /** The unit of `getMeasure`; a plain number without it. */
  unit?: "duration";
  /** Returns the sort value. Without this function, the column is sorted by its text. */
  getSortValue?(row: R): number | bigint | string;
  /** @param wall  as for `formatCell` */
  getTone?(row: R, wall: WallTime): Tone;
  /** Returns the object of the cell, if it is another one than that of the row. */
  getCellSubject?(row: R): Subject | undefined;
  /** Says in one line what such a cell shows. */
  describeCell?(row: R): { text: string; tone: "problem" | "plain" };
  /** Returns the share in use, if the cell is one: the console draws it as a bar behind the text. */
  getShare?(row: R): Share;
}

/** Values of a row that filters can match, in addition to its text. */
interface Facets {
  /** The displayed state and all others that apply: a held lock may also be drained. */
  states: readonly string[];
  hosts: readonly string[];
  holders: readonly string[];
  tags?: readonly string[];
}

/** A table as data, so that commands and the console show the same columns. */
export interface TableView<R> {
  id: string;
  brief: string;
  /** The collections to read for it. */
  collections: readonly Collection[];
  columns: readonly TableColumn<R>[];
  /** Default sort column; prefix `-` for descending. */
  sort: string;
  /** Returns a key that stays the same while the object of the row exists. */
  getKey(row: R): string;
  getFacets(row: R): Facets;
  /** Returns the object of the row, for actions. */
  getSubject(row: R): Subject;
  /** Returns when what the row is about happened, in views of past events. */
  getInstant?(row: R): WallTime;
  /** The row in JSON output, from which docs/json.md is made. */
  json: JsonObject<R>;
  /** Returns the part of a row whose change is reported. Without this function, every change is reported. */
  getChangeKey?(row: R): string;
  /** Message for an empty table, with a suggestion. */
  empty: string;
  /** Where else rows may be that a filter does not find, one sentence. */
  elsewhere?: string;
  /** Lists remarks on the table as a whole, one sentence each. */
  listRemarks?(viewContext: ViewContext): readonly string[];
}

/** Rows in lists, if there may be very many. A list stays the same object until one of its rows changes. */
export type RowLists<R> = readonly (readonly R[])[];

/** A view that builds its rows from one queue at a time, so that any number of queues can be listed while reading. */
export interface QueueView<R> extends TableView<R> {
  of: "queue";
  /** Whether locks and resources with empty queues can have rows. */
  hasEmpty: boolean;
  /** Whether rows in the ascending order of a column are in that of kinds and names. A listing with a limit then stops early. */
  isByName?(column: string, viewContext: ViewContext): boolean;
  buildRows(queue: NamedQueue, viewContext: ViewContext): readonly R[];
}

/** A view that needs the complete snapshot of its collections. */
export interface SnapshotView<R> extends TableView<R> {
  of: "snapshot";
  /** Whether rows appear, change or disappear as time passes. */
  isTimed?: true;
  /** Whether its only collection is in the order of its rows, reversed. A listing with a limit then reads the last keys only. */
  isNewestFirst?: true;
  buildRows(snapshot: Snapshot, viewContext: ViewContext): readonly R[];
  /** Builds the same rows in lists. */
  buildLists?(snapshot: Snapshot, viewContext: ViewContext): RowLists<R>;
  /** Says that the snapshot does not have all rows since an instant, ms since the epoch; undefined if it has. */
  describeGap?(snapshot: Snapshot, from: number): string | undefined;
}

export type AnyView<R> = QueueView<R> | SnapshotView<R>;
