import type { Clock } from "../base/clock.ts";
import { refusedWatch } from "./classify.ts";
import { type Member, MemberError, type WatchStream } from "./member.ts";
import type { WireWatch } from "./wire-types.ts";

/** Watches over several ranges on one stream of one member, each created. */
export class OpenWatch {
  readonly member: Member;
  readonly #stream: WatchStream;
  readonly #control: AbortController;
  /** Answers that came while the last ranges were still being created. */
  readonly #early: WireWatch[] = [];
  #heard = false;
  #reading = false;

  private constructor(member: Member, stream: WatchStream, control: AbortController) {
    this.member = member;
    this.#stream = stream;
    this.#control = control;
  }

  /**
   * Opens a stream and creates one watch a request. A stale token looks to a watch like a missing permission, so
   * that answer is believed only from a fresh one.
   * @param attempt ends the opening; later it has no effect
   * @throws MemberError, also for a compacted revision and a refused range
   */
  static async open(member: Member, requests: object[], attempt: AbortSignal): Promise<OpenWatch> {
    try {
      return await OpenWatch.#tryOpen(member, requests, attempt);
    } catch (error) {
      const stale =
        error instanceof MemberError && (error.kind === "permission" || error.advice === "relogin");
      if (!stale || !member.forgetToken()) throw error;
      return await OpenWatch.#tryOpen(member, requests, attempt);
    }
  }

  static async #tryOpen(member: Member, requests: object[], attempt: AbortSignal): Promise<OpenWatch> {
    attempt.throwIfAborted();
    const control = new AbortController();
    const onAbort = () => control.abort(attempt.reason);
    attempt.addEventListener("abort", onAbort);
    try {
      const open = new OpenWatch(member, await member.stream(control.signal), control);
      for (const request of requests) open.#stream.send(request);
      await open.#created(requests.length);
      return open;
    } catch (error) {
      control.abort(error);
      throw error;
    } finally {
      attempt.removeEventListener("abort", onAbort);
    }
  }

  async #created(count: number): Promise<void> {
    for (let created = 0; created < count; ) {
      const answer = await this.#read();
      if (answer.created) created += 1;
      else this.#early.push(answer);
    }
  }

  /** The next answer. @throws MemberError, also when the server ends the watch; what `end` was given */
  async next(): Promise<WireWatch> {
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
      return this.#checked(value as WireWatch);
    } finally {
      this.#reading = false;
    }
  }

  #checked(answer: WireWatch): WireWatch {
    if (!answer.canceled) return answer;
    if (BigInt(answer.compact_revision ?? 0) > 0n) {
      const text = `${this.member.endpoint}: the revision to watch from is compacted`;
      throw new MemberError("compacted", "final", text);
    }
    throw refusedWatch(this.member.endpoint, answer.cancel_reason ?? "");
  }

  /**
   * Ends the watch when the member shows no sign of life though it did before. A member may rightly be silent until
   * the first revision asked for exists, so silence counts only after it has once answered.
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
        this.end(new MemberError("unavailable", "retry", `${this.member.endpoint}: the watch fell silent`));
      }
      answers ||= this.#heard;
    }
  }

  /** Frees the connection; `next` throws the reason from now on. */
  end(reason: unknown): void {
    this.#control.abort(reason);
  }
}
