import type { HostRecord } from "../../fleet/host-record.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { DrainScope, QueueKind } from "../../protocol/keys.ts";
import type { NamedQueue, Picture, Room } from "../picture.ts";

/** What a cell means, for colours; its text says the same without one. */
export type Tone = "held" | "free" | "waiting" | "problem" | "quiet" | "plain";

/** A column of a table. Texts may hold other people's words, and are not cleaned. */
export interface Column<R> {
  id: string;
  title: string;
  /** 1 is kept to the last; where there is no room, those with the largest go first. 9: only shown on demand. */
  priority: number;
  align?: "right";
  /** @param wall  wall clock, ms since the epoch: rows are the same as long as nothing changes, however long that is */
  text(row: R, wall: number): string;
  /** Its text says how long something has lasted: no filter looks there. */
  isTimed?: true;
  /** Its text is random: a filter finds it by its beginning only, or short words would be found in it by chance. */
  isRandom?: true;
  /** A shorter text for where there is little room; the same in meaning to whoever knows the place. */
  brief?(row: R): string;
  /** Stands on lines of its own below the row where there is no room beside it: a sentence, or a line to copy. */
  below?: "sentence" | "line";
  /** Whether its tone is shown by a mark too, so that no meaning is in a colour alone. */
  isMarked?: true;
  /** What it is sorted by; without it, by its text. */
  order?(row: R): number | bigint | string;
  tone?(row: R): Tone;
}

/** What a filter can ask of a row, beside its text. */
export interface Facets {
  /** What the row shows as its state, and what else it is: a held lock may be drained as well. */
  states: readonly string[];
  hosts: readonly string[];
  holders: readonly string[];
}

/** What a row is about. `name` is as commands take it: a run's is its id, a drain's of everything is empty. */
export type Subject =
  | { kind: "lock" | "resource" | "host" | "group" | "schedule"; name: string }
  /** A ticket in a queue; `queue` is where it was found. */
  | { kind: "run"; name: string; queue?: { kind: QueueKind; name: string } }
  | { kind: "drain"; scope: DrainScope; name: string }
  /** Nothing that can be acted on: a past run, a record of the audit. `about` is what it mentions, where that can be. */
  | { kind: "record"; name: string; about?: Subject };

/** A kind of listing: its columns as data, so that commands and the console show the same. */
export interface View<R> {
  id: string;
  brief: string;
  /** What must be read for it. */
  rooms: readonly Room[];
  columns: readonly Column<R>[];
  /** The column it is sorted by where nobody says otherwise; `-` before it for the largest first. */
  sort: string;
  /** The same for one thing as long as it is there. */
  key(row: R): string;
  facets(row: R): Facets;
  /** What the row is about, for whoever acts on it. */
  subject(row: R): Subject;
  /** The row for programs, as docs/json.md has it. */
  json(row: R): object;
  /** What of a row is worth telling again when it changes, where that is not all of it. */
  news?(row: R): string;
  /** What to do where there is nothing. */
  empty: string;
  /** What concerns the rows, and stands in none of them: a sentence each. */
  remarks?(scene: Scene): readonly string[];
}

/** A view whose rows come from one queue at a time, so that any number of them can be listed as they are read. */
export interface QueueView<R> extends View<R> {
  of: "queue";
  /** Whether one in whose queue nobody stands has a row too. */
  hasEmpty: boolean;
  rows(queue: NamedQueue, scene: Scene): readonly R[];
}

/** A view whose rows need the whole picture of its rooms. */
export interface PictureView<R> extends View<R> {
  of: "picture";
  /** Whether rows come, change or go by themselves, as time passes. */
  isTimed?: true;
  rows(picture: Picture, scene: Scene): readonly R[];
}

export type AnyView<R> = QueueView<R> | PictureView<R>;

/** What stands around the queues: small rooms, read before them. */
export interface Scene {
  /** Wall clock, ms since the epoch. */
  wall: number;
  /** Drains that have not ended. */
  drains: readonly Drain[];
  /** Members by group. */
  groups: ReadonlyMap<string, readonly string[]>;
  resources: Picture["resources"];
  hosts: ReadonlyMap<string, HostRecord>;
  /** Finished runs by lock, newest first, where they were read. */
  histories?: Picture["histories"];
}

/** The rooms of a scene. */
export const SCENE_ROOMS: readonly Room[] = ["resourceConfigs", "groups", "drains", "hosts"];
