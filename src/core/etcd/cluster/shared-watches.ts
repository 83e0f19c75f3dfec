import { type Clock, forwardAbort, listenForAbort, type Millis } from "../../base/clock.ts";
import {
  type AttemptOptions,
  createRefusedWatchError,
  type Member,
  MemberError,
  type WatchStream,
} from "../member.ts";
import { parseInteger, type WireWatch } from "../wire-codec.ts";

/** A create request, as `WireCodec.toCreateRequests` builds it. */
type CreateRequest = { create_request: object };

/** A stream for watches on one member. */
class ProbedStream {
  readonly member: Member;
  readonly signal: AbortSignal;
  readonly #stream: WatchStream;
  readonly #control: AbortController;
  #hasResponse = false;
  #isReading = false;

  private constructor(member: Member, stream: WatchStream, control: AbortController) {
    this.member = member;
    this.signal = control.signal;
    this.#stream = stream;
    this.#control = control;
  }

  static async open(member: Member, control: AbortController, token?: string): Promise<ProbedStream> {
    return new ProbedStream(member, await member.openWatchStream(control.signal, token), control);
  }

  send(request: object): void {
    this.#stream.send(request);
  }

  /** Reads the next response. @throws MemberError; the reason given to `end` */
  async read(): Promise<WireWatch> {
    this.#isReading = true;
    try {
      const { done, value } = await this.#stream.responses.next();
      this.signal.throwIfAborted();
      if (done) throw new MemberError("unavailable", "retry", `${this.member.endpoint}: the watch ended`);
      this.#hasResponse = true;
      return value as WireWatch;
    } finally {
      this.#isReading = false;
    }
  }

  /**
   * Ends the stream when a member that has answered before goes silent. A member may stay silent until the first
   * requested revision exists, so silence counts only after a first response.
   */
  startProbing(clock: Clock, every: Millis): void {
    void this.#probe(clock, every).catch((error: unknown) => this.end(error));
  }

  async #probe(clock: Clock, every: Millis): Promise<void> {
    for (let hasAnswered = false; !this.signal.aborted; ) {
      this.#hasResponse = false;
      const wasReading = this.#isReading;
      this.send({ progress_request: {} });
      await clock.sleep(every, this.signal).catch(() => {}); // ended meanwhile
      if (!this.#hasResponse && hasAnswered && wasReading && this.#isReading) {
        const text = `${this.member.endpoint}: the watch no longer delivers anything`;
        this.end(new MemberError("unavailable", "retry", text));
      }
      hasAnswered ||= this.#hasResponse;
    }
  }

  /** Frees the connection. `read` throws the reason from now on. */
  end(reason: unknown): void {
    this.#control.abort(reason);
  }
}

/** Many watches on one stream of one member. The stream chooses the ids of the watches. */
class SharedStream {
  readonly #stream: ProbedStream;
  readonly #watches = new Map<string, SharedWatch>();
  #lastId = 0;

  private constructor(stream: ProbedStream) {
    this.#stream = stream;
  }

  /** @param every  interval of probes */
  static async open(member: Member, clock: Clock, every: Millis): Promise<SharedStream> {
    const stream = await ProbedStream.open(member, new AbortController());
    const shared = new SharedStream(stream);
    void shared.#read();
    stream.startProbing(clock, every);
    return shared;
  }

  get hasEnded(): boolean {
    return this.#stream.signal.aborted;
  }

  /**
   * Creates one watch per request.
   * @throws MemberError, also for a compacted revision; the reason of `options.signal`
   */
  async add(requests: readonly object[], { signal }: AttemptOptions): Promise<SharedWatch> {
    signal.throwIfAborted();
    const ids = requests.map(() => String(++this.#lastId));
    const watch = new SharedWatch(this.#stream.member, requests.length, () => this.#remove(ids));
    for (const id of ids) this.#watches.set(id, watch);
    if (this.hasEnded) watch.end(this.#stream.signal.reason);
    const stopListening = listenForAbort(signal, () => watch.end(signal.reason));
    for (const [at, request] of requests.entries()) {
      const { create_request: create } = request as CreateRequest;
      this.#stream.send({ create_request: { ...create, watch_id: ids[at] } });
    }
    try {
      await watch.created;
      return watch;
    } finally {
      stopListening();
    }
  }

  /** Ends all watches, and closes the connection. */
  end(reason: unknown): void {
    this.#stream.end(reason);
    for (const watch of new Set(this.#watches.values())) watch.end(reason);
  }

  #remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#watches.delete(id);
      if (!this.hasEnded) this.#stream.send({ cancel_request: { watch_id: id } });
    }
  }

  async #read(): Promise<void> {
    try {
      for (;;) this.#dispatch(await this.#stream.read());
    } catch (error) {
      this.end(error);
    }
  }

  /** Ignores responses without an open watch: progress reports, and late events of closed watches. */
  #dispatch(answer: WireWatch): void {
    this.#watches.get(String(parseInteger(answer.watch_id)))?.receive(answer);
  }
}

class SharedWatch implements WatchSource {
  readonly member: Member;
  /** Resolves when the member has created the watch on every range. */
  readonly created: Promise<void>;
  readonly #creation = Promise.withResolvers<void>();
  readonly #onEnd: () => void;
  readonly #received: WireWatch[] = [];
  #missing: number;
  #reason: { error: unknown } | undefined;
  #next: PromiseWithResolvers<WireWatch> | undefined;

  constructor(member: Member, count: number, onEnd: () => void) {
    this.member = member;
    this.created = this.#creation.promise;
    this.created.catch(() => {}); // reported where it is awaited
    this.#missing = count;
    this.#onEnd = onEnd;
  }

  receive(answer: WireWatch): void {
    try {
      checkWatchResponse(this.member, answer);
    } catch (error) {
      return this.end(error);
    }
    if (answer.created) {
      this.#missing -= 1;
      if (this.#missing === 0) this.#creation.resolve();
      return;
    }
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined) this.#received.push(answer);
    else next.resolve(answer);
  }

  async readNext() {
    if (this.#reason !== undefined) throw this.#reason.error;
    const first = this.#received.shift();
    if (first !== undefined) return first;
    this.#next = Promise.withResolvers();
    return await this.#next.promise;
  }

  end(reason: unknown) {
    if (this.#reason !== undefined) return;
    this.#reason = { error: reason };
    this.#onEnd();
    this.#creation.reject(reason);
    this.#next?.reject(reason);
  }
}

/**
 * The watches of a process that has many: one stream per member, instead of one connection for each watch. Only for
 * connections without a login: etcd does not say which of several watches it refuses.
 */
export class SharedWatches {
  readonly #clock: Clock;
  /** Interval of probes. */
  readonly #every: Millis;
  readonly #streams = new Map<Member, Promise<SharedStream>>();

  constructor(clock: Clock, every: Millis) {
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

/** Watches over several ranges on one member, all created. */
export interface WatchSource {
  readonly member: Member;
  /** Returns the next response. @throws MemberError, also when the server ends the watch; the reason given to `end` */
  readNext(): Promise<WireWatch>;
  /** `readNext` throws the reason from now on. */
  end(reason: unknown): void;
}

/** Watches on a stream of their own. */
export class OpenWatch implements WatchSource {
  readonly #stream: ProbedStream;
  /** Responses that arrived before all ranges were created. */
  readonly #early: WireWatch[] = [];

  private constructor(stream: ProbedStream) {
    this.#stream = stream;
  }

  /**
   * Opens a stream and creates one watch per request.
   * @param options.signal aborts the opening; later it has no effect
   * @param probes  how often to check that the member still serves the watch
   * @throws MemberError, also for a compacted revision and a refused range. On a watch, a stale token looks like a
   * missing permission
   */
  static async open(
    member: Member,
    requests: object[],
    { signal: attempt, token }: AttemptOptions,
    probes: { clock: Clock; every: Millis },
  ): Promise<OpenWatch> {
    attempt.throwIfAborted();
    const control = new AbortController();
    const stopForwarding = forwardAbort(attempt, control);
    try {
      const stream = await ProbedStream.open(member, control, token);
      const open = new OpenWatch(stream);
      for (const request of requests) stream.send(request);
      await open.#awaitCreated(requests.length);
      stream.startProbing(probes.clock, probes.every);
      return open;
    } catch (error) {
      control.abort(error);
      throw error;
    } finally {
      stopForwarding();
    }
  }

  get member() {
    return this.#stream.member;
  }

  async #awaitCreated(count: number): Promise<void> {
    for (let created = 0; created < count; ) {
      const answer = await this.#read();
      if (answer.created) created += 1;
      else this.#early.push(answer);
    }
  }

  async readNext() {
    this.#stream.signal.throwIfAborted();
    return this.#early.shift() ?? (await this.#read());
  }

  async #read(): Promise<WireWatch> {
    return checkWatchResponse(this.member, await this.#stream.read());
  }

  end(reason: unknown) {
    this.#stream.end(reason);
  }
}

/** Returns a response, unless it ends the watch. @throws MemberError */
function checkWatchResponse({ endpoint }: Pick<Member, "endpoint">, answer: WireWatch): WireWatch {
  if (!answer.canceled) return answer;
  if (parseInteger(answer.compact_revision) > 0n)
    throw new MemberError("compacted", "final", `${endpoint}: the revision to watch from is compacted`);
  throw createRefusedWatchError(endpoint, answer.cancel_reason ?? "");
}
