import { type ClusterMember, type MemberStatus, StoreError } from "../../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";

/** Who is there of a cluster. */
export interface Census {
  /** Name of the leader, else its address; undefined where there is none, or nobody says. */
  leader: string | undefined;
  /** Members that are configured, and those of them that answer. */
  up: number;
  total: number;
  /** The lowest version of etcd among them. */
  version: string | undefined;
}

type Present = Extract<MemberStatus, { ok: true }>;

/** Asks the members themselves. Names of members are asked for once, and again when a leader is none of them. */
export class Counting {
  readonly #ports: Pick<ObserverPorts, "store">;
  #roster: readonly ClusterMember[] = [];

  constructor(ports: Pick<ObserverPorts, "store">) {
    this.#ports = ports;
  }

  /** Takes as long as the slowest member, or as one gets that does not answer. @throws the signal's reason */
  async count(signal: AbortSignal): Promise<Census> {
    const all = await this.#ports.store.status(signal);
    const present = all.filter((one) => one.ok);
    // One that refuses is there.
    const refusing = all.filter((one) => !one.ok && one.error.kind !== "unavailable");
    return {
      leader: await this.#leader(present, signal),
      up: present.length + refusing.length,
      total: all.length,
      version: present.map(({ version }) => version).sort(byNumbers)[0],
    };
  }

  async #leader(present: readonly Present[], signal: AbortSignal): Promise<string | undefined> {
    // A member that was cut off goes on naming the leader that it knew.
    const newest = present.reduce<Present | undefined>(
      (best, one) => (best === undefined || one.raftTerm > best.raftTerm ? one : best),
      undefined,
    );
    const id = newest?.leaderId ?? 0n;
    if (id === 0n) return undefined;
    const known = () => this.#roster.find((member) => member.id === id)?.name;
    if (known() === undefined) await this.#askNames(signal);
    return known() || present.find(({ memberId }) => memberId === id)?.endpoint;
  }

  async #askNames(signal: AbortSignal): Promise<void> {
    try {
      this.#roster = await this.#ports.store.roster(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error; // otherwise its address must do
    }
  }
}

function byNumbers(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
