import { buildStoreOptions } from "../../etcd/open/store-options.ts";
import { type EtcdHealth, watchEtcdHealth } from "../../observe/etcd-health.ts";
import { findEtcdFaults } from "../../state/etcd-findings.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { CommandContext } from "../store-command.ts";

/** Reports about once a second how etcd and its members are, until the caller stops. @throws the signal's reason */
export function watchHealth(context: CommandContext, signal: AbortSignal): AsyncGenerator<EtcdHealth, never> {
  return watchEtcdHealth(context, buildStoreOptions(context.settings), signal);
}

/** Asks etcd once. */
export async function readEtcdHealth(context: CommandContext): Promise<EtcdHealth> {
  const { value } = await watchHealth(context, context.signal).next();
  return value;
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
