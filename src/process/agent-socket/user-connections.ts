import type { IncomingCall } from "./incoming-call.ts";
import { type TrafficLimits, UserTraffic } from "./user-traffic.ts";

/** What one user may use of the agent. */
export interface UserLimits {
  /** Connections. */
  connections: number;
  /** Calls that are read at the same time; further ones wait in line. */
  unfinished: number;
  /** Words and settings of all calls, bytes. */
  bytes: number;
  /** What it sends on connections whose call is complete, and on the others. */
  traffic: TrafficLimits;
}

/** Counts the connections of one user, so that a user who makes too many stands only in the way of his own. */
export class UserConnections {
  /** What the user sends on connections whose call is not complete. It must not delay the runs of the same user. */
  readonly callTraffic: UserTraffic;
  /** What the user sends on the other connections. */
  readonly traffic: UserTraffic;
  readonly #limits: UserLimits;
  readonly #waiting: IncomingCall[] = [];
  #connections = 0;
  #unfinished = 0;
  #bytes = 0;

  constructor(limits: UserLimits) {
    this.callTraffic = new UserTraffic(limits.traffic);
    this.traffic = new UserTraffic(limits.traffic);
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#connections >= this.#limits.connections;
  }

  addConnection(): void {
    this.#connections += 1;
  }

  removeConnection(): void {
    this.#connections -= 1;
  }

  /**
   * Reads a call, now or when it is its turn. Launchers send their call at once, so all calls of a stampede get their
   * turn within moments.
   */
  read(call: IncomingCall): void {
    this.#waiting.push(call);
    this.#readNext();
  }

  /** Call it when a call is complete or given up. */
  finish(call: IncomingCall): void {
    const index = this.#waiting.indexOf(call);
    if (index >= 0) this.#waiting.splice(index, 1);
    else this.#unfinished -= 1;
    this.#readNext();
  }

  /** Reserves memory for a call. @returns whether there was enough */
  reserve(bytes: number): boolean {
    if (this.#bytes + bytes > this.#limits.bytes) return false;
    this.#bytes += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#bytes -= bytes;
  }

  #readNext(): void {
    while (this.#unfinished < this.#limits.unfinished) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#unfinished += 1;
      next.start();
    }
  }
}
