import { ConfigError } from "../../base/errors.ts";
import { LaunchedCall } from "./launched-call.ts";
import type { PathCheck } from "./listening-socket.ts";
import {
  type CallNews,
  type DeclinedConnection,
  Outbox,
  type SocketNews,
  type SocketOrder,
  type ThreadPort,
  toBuffer,
} from "./socket-messages.ts";

interface AgentListenerOptions {
  /** The thread that has the socket (socket-server.ts). */
  port: ThreadPort;
  /** Reads the boot-time clock, ms. */
  readBootTime(): number;
  /** Receives each complete call. It must accept, decline or end it. */
  onCall(call: LaunchedCall): void;
  /** Called for connections that were declined before their calls were complete. */
  onDeclined?(why: DeclinedConnection, count: number): void;
  /** Receives errors of the socket. */
  onFault(error: Error): void;
}

type Answer = Extract<SocketNews, { question: number }>;

/** The agent's socket, which another thread has: yields the calls of launchers. */
export class AgentListener {
  readonly #options: AgentListenerOptions;
  readonly #outbox: Outbox<SocketOrder>;
  readonly #opened = Promise.withResolvers<void>();
  readonly #calls = new Map<number, LaunchedCall>();
  readonly #questions = new Map<number, (answer: Answer) => void>();
  #lastQuestion = 0;
  /** Frames and calls that were handled since the last report, by user. */
  #taken = new Map<number, number>();

  private constructor(options: AgentListenerOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.port, process.nextTick);
    options.port.on("message", (all) => {
      for (const news of all as SocketNews[]) this.#handleNews(news);
    });
  }

  /**
   * Waits until the thread listens.
   * @throws ConfigError when the path cannot be used, or another agent listens there
   */
  static async open(options: AgentListenerOptions): Promise<AgentListener> {
    const listener = new AgentListener(options);
    await listener.#opened.promise;
    return listener;
  }

  /**
   * Stops listening, and declines calls that are not complete. Complete calls keep their connections. Resolves when it is
   * done.
   */
  async close(): Promise<void> {
    this.#outbox.add({ kind: "close" });
    await this.flush();
  }

  /** Resolves when what was sent on all connections is written. */
  async flush(): Promise<void> {
    await this.#ask("tellDone");
  }

  /** Looks whether launchers find the socket, and gives it its path again if it has none. Never rejects. */
  async checkPath(): Promise<PathCheck> {
    const answer = await this.#ask("checkPath");
    return answer.kind === "path" ? answer.check : { state: "found" };
  }

  async #ask(kind: "tellDone" | "checkPath"): Promise<Answer> {
    this.#lastQuestion += 1;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#questions.set(this.#lastQuestion, resolve);
    this.#outbox.add({ kind, question: this.#lastQuestion });
    return await promise;
  }

  #handleNews(news: SocketNews): void {
    switch (news.kind) {
      case "opened":
        return this.#opened.resolve();
      case "failed":
        return this.#opened.reject(news.isConfig ? new ConfigError(news.message) : new Error(news.message));
      case "call":
        return this.#handleCall(news);
      case "frame":
        this.#take(news.uid);
        return this.#calls.get(news.id)?.receive({ ...news.frame, block: toBuffer(news.frame.block) });
      case "ended":
        this.#calls.get(news.id)?.close();
        this.#calls.delete(news.id);
        return;
      case "declined":
        for (const [why, count] of news.counts) this.#options.onDeclined?.(why, count);
        return;
      case "fault":
        return this.#options.onFault(new Error(news.message));
      default:
        this.#questions.get(news.question)?.(news);
        this.#questions.delete(news.question);
    }
  }

  #handleCall(news: CallNews): void {
    this.#take(news.peer.uid);
    const delay = this.#options.readBootTime() - news.request.bootTime;
    const call = new LaunchedCall(news, delay, this.#outbox, () => this.flush());
    this.#calls.set(news.id, call);
    this.#options.onCall(call);
  }

  /**
   * Reports what was handled after the timers and the answers of etcd have had their turn: so much of a user is between the
   * threads at most.
   */
  #take(uid: number): void {
    if (this.#taken.size === 0)
      setImmediate(() => {
        this.#outbox.add({ kind: "taken", counts: this.#taken });
        this.#taken = new Map();
      });
    this.#taken.set(uid, (this.#taken.get(uid) ?? 0) + 1);
  }
}
