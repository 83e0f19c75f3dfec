import type { Clock } from "../../base/clock.ts";
import { type AttemptOptions, type Member, MemberError, type WatchStream } from "../member.ts";
import { createRefusedWatchError } from "../member-errors.ts";
import type { WireWatch } from "../wire-types.ts";

/** Watches over several ranges on one member, all created. */
export interface WatchSource {
  readonly member: Member;
  /** Returns the next response. @throws MemberError, also when the server ends the watch; the reason given to `end` */
  readNext(): Promise<WireWatch>;
  /** Ends the watch when the member goes silent. @param every in milliseconds */
  probe(clock: Clock, every: number): Promise<void>;
  /** `readNext` throws the reason from now on. */
  end(reason: unknown): void;
}

/** Watches on a stream of their own. */
export class OpenWatch implements WatchSource {
  readonly member: Member;
  readonly #stream: WatchStream;
  readonly #control: AbortController;
  /** Responses that arrived before all ranges were created. */
  readonly #early: WireWatch[] = [];
  #heard = false;
  #reading = false;

  private constructor(member: Member, stream: WatchStream, control: AbortController) {
    this.member = member;
    this.#stream = stream;
    this.#control = control;
  }

  /**
   * Opens a stream and creates one watch per request.
   * @param options.signal aborts the opening; later it has no effect
   * @throws MemberError, also for a compacted revision and a refused range. On a watch, a stale token looks like a
   * missing permission
   */
  static async open(member: Member, requests: object[], options: AttemptOptions): Promise<OpenWatch> {
    const { signal: attempt, token } = options;
    attempt.throwIfAborted();
    const control = new AbortController();
    const onAbort = () => control.abort(attempt.reason);
    attempt.addEventListener("abort", onAbort);
    try {
      const open = new OpenWatch(member, await member.openWatchStream(control.signal, token), control);
      for (const request of requests) open.#stream.send(request);
      await open.#awaitCreated(requests.length);
      return open;
    } catch (error) {
      control.abort(error);
      throw error;
    } finally {
      attempt.removeEventListener("abort", onAbort);
    }
  }

  async #awaitCreated(count: number): Promise<void> {
    for (let created = 0; created < count; ) {
      const answer = await this.#read();
      if (answer.created) created += 1;
      else this.#early.push(answer);
    }
  }

  /** Returns the next response. @throws MemberError, also when the server ends the watch; the reason given to `end` */
  async readNext(): Promise<WireWatch> {
    this.#control.signal.throwIfAborted();
    return this.#early.shift() ?? (await this.#read());
  }

  async #read(): Promise<WireWatch> {
    this.#reading = true;
    try {
      const { done, value } = await this.#stream.responses.next();
      this.#control.signal.throwIfAborted();
      if (done) throw new MemberError("unavailable", "retry", `${this.member.endpoint}: the watch ended`);
      this.#heard = true;
      return checkWatchResponse(this.member, value as WireWatch);
    } finally {
      this.#reading = false;
    }
  }

  /**
   * Ends the watch when the member goes silent after it has answered before. A member may stay silent until the first
   * requested revision exists, so silence counts only after a first response.
   * @param every in milliseconds
   */
  async probe(clock: Clock, every: number): Promise<void> {
    const { signal } = this.#control;
    for (let answers = false; !signal.aborted; ) {
      this.#heard = false;
      const waited = this.#reading;
      this.#stream.send({ progress_request: {} });
      await clock.sleep(every, signal).catch(() => {}); // ended meanwhile
      if (!this.#heard && answers && waited && this.#reading) {
        this.end(
          new MemberError(
            "unavailable",
            "retry",
            `${this.member.endpoint}: the watch delivers nothing any more`,
          ),
        );
      }
      answers ||= this.#heard;
    }
  }

  /** Frees the connection. `readNext` throws the reason from now on. */
  end(reason: unknown): void {
    this.#control.abort(reason);
  }
}

/** Returns a response, unless it ends the watch. @throws MemberError */
export function checkWatchResponse({ endpoint }: Pick<Member, "endpoint">, answer: WireWatch): WireWatch {
  if (!answer.canceled) return answer;
  if (BigInt(answer.compact_revision ?? 0) > 0n)
    throw new MemberError("compacted", "final", `${endpoint}: the revision to watch from is compacted`);
  throw createRefusedWatchError(endpoint, answer.cancel_reason ?? "");
}
