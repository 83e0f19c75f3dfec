import { StoreError } from "../../etcd/store.ts";
import { type Answer, ask } from "./ask.ts";
import { type Census, Counting } from "./census.ts";
import type { ObserverPorts } from "./ports.ts";

/** Pause after an answer, ms: so a silence is known 2.5 s after it has begun. */
const EVERY = 1_000;

export type Beat =
  /** Etcd as a whole answers. `up`, `total` and `leader` are what its members said last. */
  | ({ kind: "answer" } & Answer & Census)
  /** It does not, or refuses; `since` is when it was asked the first time in vain, wall clock, ms since the epoch. */
  | { kind: "silence"; since: number; error: StoreError };

/**
 * Whether etcd answers now, about once a second for as long as somebody listens. Each answer is a linearizable one (see
 * `ask`): a majority of the cluster is there. A member that is frozen, a connection that swallows everything, and a
 * minority that still serves its own memory are silence. Members are counted beside it, so that a frozen one delays no beat.
 * @throws the signal's reason, nothing else
 */
export async function* heartbeat(ports: ObserverPorts, signal: AbortSignal): AsyncGenerator<Beat, never> {
  const { clock } = ports;
  const count = counter(ports, signal);
  for (let since: number | undefined; ; ) {
    const start = clock.wall();
    const counting = count();
    try {
      const answer = await ask(ports, signal);
      since = undefined;
      yield { kind: "answer", ...answer, ...(await counting) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      since ??= start;
      yield { kind: "silence", since, error };
    }
    await clock.sleep(EVERY, signal);
  }
}

/** What was counted last, while it is being counted anew; only the first time there is nothing to give but a promise. */
function counter(ports: ObserverPorts, signal: AbortSignal): () => Census | Promise<Census> {
  const counting = new Counting(ports);
  let last: Census | undefined;
  let running: Promise<Census> | undefined;
  return () => {
    running ??= counting.count(signal).finally(() => {
      running = undefined;
    });
    running.then(
      (census) => {
        last = census;
      },
      () => {}, // whoever waits for it is told; the others look again
    );
    return last ?? running;
  };
}
