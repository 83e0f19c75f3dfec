import type { PastTarget } from "../../cli/frame/command-line/past-target.ts";
import {
  describeTooOld,
  findPastMoment,
  type PastMoment,
  PastRefusal,
  readMoment,
  readPastSnapshot,
} from "../../cli/frame/past-moment.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { formatInstant, type WallTime } from "../../core/base/clock.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { getErrorMessage } from "../../core/base/errors.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import {
  findLastChange,
  findNextChange,
  findOldestRevision,
  isTooOld,
  type PastChange,
} from "../../site/observe/past-revision.ts";
import type { ReadProgress } from "../../site/observe/read.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { ConnectionState, ShownData } from "./live-view.ts";

/** Receives the messages of time travel for the user. */
interface TravelListener {
  onChange(): void;
  onMessage(text: string, tone: "problem" | "quiet"): void;
}

/** The destination of a journey, and the message about it. */
interface Journey {
  moment: PastMoment;
  message?: string;
}

/** Shows past states of etcd. The live view continues meanwhile, so the return takes no time. Never throws. */
export class TimeTravel {
  readonly #context: CommandContext;
  readonly #listener: TravelListener;
  #view: PastView | undefined;
  #stop = new AbortController();
  #search: string | undefined;
  #progress: ReadProgress | undefined;

  constructor(context: CommandContext, listener: TravelListener) {
    this.#context = context;
    this.#listener = listener;
  }

  /** The past state that is shown; undefined while the console is live. */
  get view(): PastView | undefined {
    return this.#view;
  }

  /** Describes the read in progress; undefined if there is none. */
  get search(): string | undefined {
    return this.#search;
  }

  /** How much of the state is read; undefined while it is looked for. */
  get progress(): ReadProgress | undefined {
    return this.#progress;
  }

  /** Shows the state at a time or a revision, as soon as it is read. */
  go(target: PastTarget): void {
    const what = "at" in target ? formatInstant(target.at) : `revision ${target.revision}`;
    void this.#read(`reading the state at ${what}`, async (signal) => ({
      moment: await findPastMoment(this.#context, target, signal),
    }));
  }

  /** Shows the state before the last change, or after the next one. */
  step(by: 1 | -1): void {
    const from = this.#view?.past;
    if (from === undefined) return this.#listener.onMessage("not in the past: a asks for a time", "quiet");
    void this.#read(by > 0 ? "looking for the next change" : "looking for the change before", (signal) =>
      by > 0 ? this.#findNext(from, signal) : this.#findBefore(from, signal),
    );
  }

  /** Returns to the live state. Stops a read. */
  end(): void {
    this.#stop.abort(new Error("returned to live"));
    this.#search = undefined;
    this.#view = undefined;
    this.#listener.onChange();
  }

  async #read(what: string, find: (signal: AbortSignal) => Promise<Journey>): Promise<void> {
    this.#stop.abort(new Error("another state is wanted"));
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#search = what;
    this.#setProgress(undefined);
    try {
      const { moment, message } = await find(signal);
      const onProgress = (progress: ReadProgress) => {
        if (!signal.aborted) this.#setProgress(progress);
      };
      const snapshot = await readPastSnapshot(this.#context, moment, signal, onProgress);
      if (signal.aborted) return;
      this.#view = new PastView(snapshot, moment);
      if (message !== undefined) this.#listener.onMessage(message, "quiet");
    } catch (error) {
      if (signal.aborted) return;
      this.#listener.onMessage(await this.#explain(error), "problem");
    } finally {
      if (this.#stop.signal === signal) this.#search = undefined;
      this.#listener.onChange();
    }
  }

  #setProgress(progress: ReadProgress | undefined): void {
    this.#progress = progress;
    this.#listener.onChange();
  }

  async #findNext({ revision }: PastMoment, signal: AbortSignal): Promise<Journey> {
    const change = await findNextChange(this.#context, revision, signal);
    if (change === undefined) throw new PastRefusal("no later change was found; a returns to live");
    const moment = await readMoment(this.#context, change.revision, signal);
    return { moment, message: `after the change of ${nameChange(this.#context.keys, change)}` };
  }

  async #findBefore({ revision }: PastMoment, signal: AbortSignal): Promise<Journey> {
    const oldest = await findOldestRevision(this.#context, signal);
    const change = await findLastChange(this.#context, { revision, oldest: oldest.revision }, signal);
    if (change === undefined) throw new PastRefusal(describeTooOld("an earlier change", oldest));
    const moment = await readMoment(this.#context, change.revision - 1n, signal);
    return { moment, message: `before the change of ${nameChange(this.#context.keys, change)}` };
  }

  async #explain(error: unknown): Promise<string> {
    if (error instanceof PastRefusal) return error.message;
    const text = getErrorMessage(error);
    if (!isTooOld(error)) return `the past cannot be read: ${text}`;
    try {
      return describeTooOld("this revision", await findOldestRevision(this.#context, this.#stop.signal));
    } catch {
      return `etcd has compacted this revision: ${text}`;
    }
  }
}

/** Shows the state of etcd at a past revision. It never changes, and nothing can be changed through it. */
export class PastView implements ShownData {
  readonly snapshot: Snapshot;
  readonly past: PastMoment;
  readonly hasRead = true;
  readonly clusterHealth = undefined;
  readonly connection: ConnectionState;

  constructor(snapshot: Snapshot, past: PastMoment) {
    this.snapshot = snapshot;
    this.past = past;
    this.connection = { kind: "past", since: past.at, fault: undefined };
  }

  reread(): void {}

  catchUp(): void {}
}

/** Longest name, columns. */
const MAX_NAME_COLUMNS = 40;

/**
 * Names the objects that a change has written or deleted: `lock backup and 3 more`. An action is named after the object
 * that it changed.
 */
export function nameChange(keys: Keys, change: PastChange): string {
  const names = [...new Set(change.keys.map((key) => nameKey(keys, key)))];
  const [first = "", ...more] = [
    ...names.filter((name) => name !== UNKNOWN_ACTION),
    ...names.filter((name) => name === UNKNOWN_ACTION),
  ];
  return cleanToWidth(first, MAX_NAME_COLUMNS) + (more.length > 0 ? ` and ${more.length} more` : "");
}

const UNKNOWN_ACTION = "an action";

function nameKey(keys: Keys, key: string): string {
  const queue = keys.parseQueueKey(key);
  if (queue !== undefined) return `${queue.kind} ${queue.name}`;
  const parsed = keys.parse(key);
  if (parsed.kind === "audit") return UNKNOWN_ACTION;
  return "name" in parsed ? `${parsed.kind} ${parsed.name}` : key.slice(keys.prefix.length);
}

/** Formats a time: `03:00:02Z`, with the day if it is not that of `now`. */
export function formatPastTime(at: WallTime, now: WallTime): string {
  const [text, today] = [formatInstant(at), formatInstant(now)];
  return text.slice(0, 10) === today.slice(0, 10) ? text.slice(11) : text;
}

/** Says which state is shown and how exactly its time is known. */
export function describePastMoment(moment: PastMoment, now: WallTime): string {
  return `state at revision ${moment.revision}, ${describePastBounds(moment, now)}`;
}

/** Says how exactly the time of a past state is known. */
export function describePastBounds({ from, until }: PastMoment, now: WallTime): string {
  const [after, before] = [from, until].map((at) => (at === undefined ? undefined : formatPastTime(at, now)));
  if (after === undefined) return before === undefined ? "of an unknown time" : `before ${before}`;
  if (before === undefined) return `not before ${after}`;
  return after === before ? `at ${after}` : `between ${after} and ${before}`;
}
