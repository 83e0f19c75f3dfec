import { type BootTime, subtractTime } from "../../base/clock.ts";
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
  /** The thread that owns the socket (socket-server.ts). */
  port: ThreadPort;
  readBootTime(): BootTime;
  /** Receives each complete call. It must accept, decline or end it. */
  onCall(call: LaunchedCall): void;
  /** Called for connections that were declined before their calls were complete. */
  onDeclined?(why: DeclinedConnection, count: number): void;
  /** Receives errors of the socket. */
  onFault(error: Error): void;
}

type Answer = Extract<SocketNews, { question: number }>;

/** The main thread's side of the agent's socket, which another thread owns. */
export interface AgentListener {
  /**
   * Stops listening, and declines calls that are not complete. Complete calls keep their connections. Resolves when that
   * is done.
   */
  close(): Promise<void>;
  /** Resolves when what was sent on all connections is written. */
  flush(): Promise<void>;
  /** Checks whether launchers can find the socket, and restores its path if that was removed. Never rejects. */
  checkPath(): Promise<PathCheck>;
}

/**
 * Waits until the thread listens.
 * @throws ConfigError when the path cannot be used, or another agent listens there
 */
export async function openAgentListener(options: AgentListenerOptions): Promise<AgentListener> {
  const outbox = new Outbox<SocketOrder>(options.port, process.nextTick);
  const opened = Promise.withResolvers<void>();
  const calls = new Map<number, LaunchedCall>();
  const questions = new Map<number, (answer: Answer) => void>();
  let lastQuestion = 0;
  /** Frames and calls that were handled since the last report, by user. */
  let taken = new Map<number, number>();

  /**
   * Reports handled frames only after timers and the answers of etcd have had their turn. The socket thread waits for the
   * reports, so a user's frames cannot delay these.
   */
  const take = (uid: number) => {
    if (taken.size === 0)
      setImmediate(() => {
        outbox.add({ kind: "taken", counts: taken });
        taken = new Map();
      });
    taken.set(uid, (taken.get(uid) ?? 0) + 1);
  };

  const ask = async (kind: "tellDone" | "checkPath") => {
    lastQuestion += 1;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    questions.set(lastQuestion, resolve);
    outbox.add({ kind, question: lastQuestion });
    return await promise;
  };

  const flush = async () => {
    await ask("tellDone");
  };

  const handleCall = (news: CallNews) => {
    take(news.peer.uid);
    const delay = subtractTime(options.readBootTime(), news.request.bootTime);
    const call = new LaunchedCall(news, delay, outbox, flush);
    calls.set(news.id, call);
    options.onCall(call);
  };

  const handleNews = (news: SocketNews) => {
    switch (news.kind) {
      case "opened":
        return opened.resolve();
      case "failed":
        return opened.reject(news.isConfig ? new ConfigError(news.message) : new Error(news.message));
      case "call":
        return handleCall(news);
      case "frame":
        take(news.uid);
        return calls.get(news.id)?.receive({ ...news.frame, block: toBuffer(news.frame.block) });
      case "ended":
        calls.get(news.id)?.close();
        calls.delete(news.id);
        return;
      case "declined":
        for (const [why, count] of news.counts) options.onDeclined?.(why, count);
        return;
      case "fault":
        return options.onFault(new Error(news.message));
      default:
        questions.get(news.question)?.(news);
        questions.delete(news.question);
    }
  };

  const waiting: SocketNews[] = [];
  let hasTurn = true;
  /** Handles news up to a call. Timers and the answers of etcd have their turn before the next one: its work may take long. */
  const handleWaiting = () => {
    hasTurn = true;
    while (hasTurn) {
      const news = waiting.shift();
      if (news === undefined) return;
      handleNews(news);
      hasTurn = news.kind !== "call";
    }
    setImmediate(handleWaiting);
  };

  options.port.on("message", (all) => {
    waiting.push(...(all as SocketNews[]));
    if (hasTurn) handleWaiting();
  });
  await opened.promise;
  return {
    flush,
    async close() {
      outbox.add({ kind: "close" });
      await flush();
    },
    async checkPath() {
      const answer = await ask("checkPath");
      return answer.kind === "path" ? answer.check : { state: "found" };
    },
  };
}
