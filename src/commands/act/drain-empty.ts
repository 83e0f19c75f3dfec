import { formatDuration } from "../../base/duration.ts";
import { isUnavailable } from "../../etcd/persist.ts";
import type { Claim } from "../../model/claims.ts";
import { targetText, whoAll } from "../../model/scope-text.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import { conclude, type Receipt } from "../../work/operate/act.ts";
import { type Desk, Interrupted } from "../with-store.ts";
import { resetHolders } from "./drain-reset.ts";
import { type Emptying, type EmptyingNews, untilEmpty } from "./drain-wait.ts";

export interface EmptyingOrder {
  target: DrainTarget;
  /** As they were seen before. */
  holders: readonly Claim[];
  /** Of the drain, whose record is told what came of it; undefined where it stood before. */
  receipt: Receipt | undefined;
  reason: string | undefined;
  /** Milliseconds; undefined waits for ever. */
  timeout: number | undefined;
  /** Whether those who remain then are ended. */
  resets: boolean;
}

/** What became of a scope, in words for the user. */
export interface Emptied extends Emptying {
  lines: readonly string[];
}

const PAUSE = 500;
/** Nobody waits longer for the audit, ms. */
const RECORD_WITHIN = 2_000;

/** `drain --wait`: waits until nobody holds anything in the scope, and ends those who are late. */
export class Emptier {
  readonly #desk: Desk;
  readonly #say: (line: string) => void;
  readonly #order: EmptyingOrder;
  readonly #start: number;

  constructor(desk: Desk, say: (line: string) => void, order: EmptyingOrder) {
    this.#desk = desk;
    this.#say = say;
    this.#order = order;
    this.#start = desk.clock.now();
  }

  /** @throws Interrupted after it has said what stands; StoreError when etcd refuses for good */
  async run(): Promise<Emptied> {
    try {
      const { timeout, resets } = this.#order;
      const deadline = timeout === undefined ? undefined : this.#start + timeout;
      const first = await this.#wait(deadline, this.#order.holders);
      if (first.kind !== "timeout" || !resets) return await this.#conclude(first);
      const asked = await this.#reset();
      return await this.#conclude(await this.#wait(undefined, first.holders), asked);
    } catch (error) {
      if (error instanceof Interrupted) this.#say(`no longer waiting; ${this.#what()} stays drained`);
      throw error;
    }
  }

  #wait(deadline: number | undefined, holders: readonly Claim[]): Promise<Emptying> {
    return untilEmpty(this.#desk, {
      ...{ target: this.#order.target, deadline, holders },
      tell: (news) => this.#tell(news),
    });
  }

  #tell(news: EmptyingNews): void {
    if (news.kind === "away") this.#say(`etcd is away (${news.error.message}); waiting for it`);
    if (news.kind === "back") this.#say("etcd is back");
    if (news.kind === "holders") this.#say(`waiting for ${counted(news.holders)}`);
  }

  async #reset(): Promise<number> {
    const { target, reason } = this.#order;
    for (let isAway = false; ; ) {
      try {
        const asked = await resetHolders(this.#desk, target, reason);
        if (isAway) this.#say("etcd is back");
        this.#say(`${this.#took()} are over: ${asked} ${asked === 1 ? "run was" : "runs were"} asked to end`);
        return asked;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (!isAway) this.#say("etcd is away; those who remain are ended when it is back");
        isAway = true;
        await this.#desk.clock.sleep(PAUSE, this.#desk.signal);
      }
    }
  }

  async #conclude(emptying: Emptying, asked = 0): Promise<Emptied> {
    const { receipt } = this.#order;
    const [line, outcome] = this.#verdict(emptying, asked);
    if (receipt?.kind === "done") await this.#record(receipt.record, outcome);
    return { ...emptying, lines: [line] };
  }

  /** While etcd is away, the record goes on to say "drained", which is true. */
  async #record(record: AuditRecord, outcome: string): Promise<void> {
    const told = conclude(this.#desk, record, outcome).catch((error) => {
      if (!isUnavailable(error)) throw error;
    });
    await Promise.race([told, this.#desk.clock.sleep(RECORD_WITHIN)]);
  }

  #verdict({ kind, holders }: Emptying, asked: number): [line: string, outcome: string] {
    const ended = asked === 0 ? "" : `, ${asked} by a reset`;
    switch (kind) {
      case "empty":
        return [
          `${this.#what()} is drained, and nobody holds anything there, after ${this.#took()}${ended}`,
          `empty after ${this.#took()}${ended}`,
        ];
      case "timeout":
        return [
          `${this.#what()} is drained, but not empty after ${this.#took()}: held by ${counted(holders)}`,
          `${holders.length} still held after ${this.#took()}`,
        ];
      case "lifted":
        return [
          `the drain of ${this.#what()} was lifted or has ended before it was empty: held by ${counted(holders)}`,
          `lifted or ended after ${this.#took()}, ${holders.length} still held`,
        ];
    }
  }

  #what(): string {
    return targetText(this.#order.target);
  }

  #took(): string {
    return formatDuration(Math.round((this.#desk.clock.now() - this.#start) / 100) * 100);
  }
}

function counted(holders: readonly Claim[]): string {
  if (holders.length === 0) return "nobody";
  return holders.length === 1 ? whoAll(holders) : `${holders.length}: ${whoAll(holders)}`;
}
