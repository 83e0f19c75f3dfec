import type { Clock } from "../../base/clock.ts";
import { type AttemptOptions, type Member, MemberError } from "../member.ts";
import { SharedStream, type SharedWatch } from "./shared-stream.ts";

/**
 * The watches of a process that has many: one stream per member, instead of one connection for each watch. Only for
 * connections without a login: etcd does not say which of several watches it refuses.
 */
export class SharedWatches {
  readonly #clock: Clock;
  /** Interval of probes, ms. */
  readonly #every: number;
  readonly #streams = new Map<Member, Promise<SharedStream>>();

  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.#every = every;
  }

  /** Creates one watch per request on the stream of a member. @throws as `OpenWatch.open` */
  async open(member: Member, requests: readonly object[], options: AttemptOptions): Promise<SharedWatch> {
    if (options.fresh) this.drop(member);
    const stream = await this.#findStream(member);
    return await stream.add(requests, options);
  }

  /** Gives up the stream of a member that may be dead, and ends its watches. */
  drop(member: Member): void {
    const reason = new MemberError("unavailable", "retry", `${member.endpoint}: the member does not answer`);
    void this.#streams.get(member)?.then(
      (stream) => stream.end(reason),
      () => {}, // it was not opened
    );
    this.#streams.delete(member);
  }

  /** Closes all streams. */
  close(): void {
    for (const member of [...this.#streams.keys()]) this.drop(member);
  }

  async #findStream(member: Member): Promise<SharedStream> {
    const known = this.#streams.get(member);
    if (known !== undefined) {
      const stream = await known.catch(() => undefined);
      if (stream !== undefined && !stream.hasEnded) return stream;
      if (this.#streams.get(member) === known) this.#streams.delete(member);
      return await this.#findStream(member);
    }
    const opening = SharedStream.open(member, this.#clock, this.#every);
    this.#streams.set(member, opening);
    return await opening;
  }
}
