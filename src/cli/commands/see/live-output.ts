import type { WallTime } from "../../../core/base/clock.ts";
import { buildStoreOptions } from "../../../core/etcd/store-options.ts";
import { type EtcdHealth, watchEtcdHealth } from "../../../site/observe/etcd-cluster.ts";
import { followEtcd } from "../../../site/observe/follow.ts";
import { findEtcdFaults } from "../../../site/state/etcd-findings.ts";
import type { Collection, Snapshot } from "../../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../site/state/snapshot-builder.ts";
import type { CommandIo } from "../../frame/command.ts";
import type { CommandContext } from "../../frame/store-command.ts";

/** The last known state, which may be out of date. */
export interface LiveSnapshot {
  snapshot: Snapshot;
  /** Wall clock, ms since the epoch, since when etcd is unavailable; undefined while it is available. */
  awaySince: WallTime | undefined;
}

/** Keeps a snapshot of some collections up to date in the background. */
export class SnapshotFollower {
  readonly #context: CommandContext;
  readonly #builder: SnapshotBuilder;
  readonly #stop = new AbortController();
  #awaySince: WallTime | undefined;
  #fault: unknown;

  constructor(context: CommandContext, collections: readonly Collection[]) {
    this.#context = context;
    this.#builder = new SnapshotBuilder(context.keys, collections);
  }

  /** Resolves with the first snapshot. @throws StoreError */
  async begin(): Promise<void> {
    const signal = AbortSignal.any([this.#context.signal, this.#stop.signal]);
    const news = followEtcd(this.#context, this.#builder, signal);
    await news.next();
    void this.#follow(news).catch((error) => {
      this.#fault = error;
    });
  }

  async #follow(news: ReturnType<typeof followEtcd>): Promise<void> {
    for await (const { kind } of news) {
      if (kind !== "away") this.#awaySince = undefined;
      else this.#awaySince ??= this.#context.clock.getWallTime();
    }
  }

  /** @throws the error that ended the follower: etcd refuses for good, or the user ended the command */
  getLiveSnapshot(): LiveSnapshot {
    if (this.#fault !== undefined) throw this.#fault;
    return { snapshot: this.#builder.getSnapshot(), awaySince: this.#awaySince };
  }

  end(): void {
    this.#stop.abort(new Error("the view was closed"));
  }
}

const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J"; // the alternate screen, empty, without cursor and line wrap
const LEAVE_SCREEN = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Synchronized output: terminals that support it show the text between these at once; others ignore them. */
const [BEGIN_UPDATE, END_UPDATE] = ["\x1b[?2026h", "\x1b[?2026l"];

/** The alternate screen of a terminal, repainted in place without flicker. Leaving it restores the user's screen. */
export class AnsiScreen {
  readonly #io: Pick<CommandIo, "writeOutput" | "terminal">;
  #shown: readonly string[] = [];
  #size = "";

  constructor(io: Pick<CommandIo, "writeOutput" | "terminal">) {
    this.#io = io;
  }

  enter(): void {
    this.#io.writeOutput(ENTER_SCREEN);
  }

  /**
   * Paints lines from the top, as many as fit. Writes only the lines that have changed.
   * @param lines  escaped and cut for the terminal
   * @returns false once the output is closed
   */
  paint(lines: readonly string[]): boolean {
    const { rows, columns } = this.#io.terminal.getSize();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    this.#shown = Array.from({ length: rows }, (_, row) => lines[row] ?? "");
    this.#size = `${columns}x${rows}`;
    // A row is cleared first: the terminal may take some characters to be wider or narrower than we do.
    const changes = this.#shown.flatMap((line, row) =>
      line === (before[row] ?? "") ? [] : [`\x1b[${row + 1}H\x1b[m\x1b[K${line}`],
    );
    const text = (isResized ? "\x1b[m\x1b[H\x1b[J" : "") + changes.join("");
    return text === "" || this.#io.writeOutput(BEGIN_UPDATE + text + END_UPDATE);
  }

  leave(): void {
    this.#io.writeOutput(LEAVE_SCREEN);
  }
}

/** Reports about once a second how etcd and its members are, until the caller stops. @throws the signal's reason */
export function watchHealth(context: CommandContext, signal: AbortSignal): AsyncGenerator<EtcdHealth, never> {
  return watchEtcdHealth(context, buildStoreOptions(context.settings), signal);
}

/**
 * Asks etcd once, or again if it was silent and has answered a read meanwhile: the members that are left may have needed longer to
 * elect a leader than a report waits.
 * @param read  begun at the same time
 * @throws what the read throws
 */
export async function readEtcdHealth(context: CommandContext, read: Promise<unknown>): Promise<EtcdHealth> {
  const reports = watchHealth(context, context.signal);
  const { value } = await reports.next();
  if (value.kind === "answer" || value.error.kind !== "unavailable") return value;
  await read;
  return (await reports.next()).value;
}

/** Adds what is wrong with etcd itself to a snapshot, as far as it is known. */
export function addEtcdFaults(snapshot: Snapshot, { reading }: Partial<EtcdHealth> = {}): Snapshot {
  return reading === undefined ? snapshot : { ...snapshot, etcdFaults: findEtcdFaults(reading) };
}

/** Keeps the last answer about etcd. */
export class HealthFollower {
  readonly #stop = new AbortController();
  last: EtcdHealth | undefined;

  constructor(context: CommandContext) {
    const signal = AbortSignal.any([context.signal, this.#stop.signal]);
    void this.#follow(watchHealth(context, signal)).catch(() => {}); // ends only with the signal
  }

  async #follow(news: ReturnType<typeof watchHealth>): Promise<void> {
    for await (const health of news) this.last = health;
  }

  end(): void {
    this.#stop.abort(new Error("the view was closed"));
  }
}
