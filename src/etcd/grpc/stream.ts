import type { MemberError, WatchStream } from "../member.ts";
import type { CallTap } from "./tap.ts";

/** What is used of a gRPC duplex stream; etcd3's types do not say that it is a Node stream. */
interface Duplex {
  write(message: object): unknown;
  end(): void;
  cancel(): void;
  on(event: "error", handler: (error: Error) => void): unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

/** Messages both ways over a stream that etcd3 opened. Ends when the signal is aborted. */
export function openStream(opened: object, tap: CallTap, signal: AbortSignal): WatchStream {
  const duplex = opened as Duplex;
  let over = false;
  const stop = () => {
    over = true;
    duplex.cancel();
  };
  duplex.on("error", () => {
    over = true; // also told to whoever reads; nobody may be
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return {
    send: (message) => {
      if (!over) duplex.write(message);
    },
    responses: responses(duplex, tap, signal, () => signal.removeEventListener("abort", stop)),
  };
}

async function* responses(
  duplex: Duplex,
  tap: CallTap,
  signal: AbortSignal,
  done: () => void,
): AsyncGenerator<unknown, void> {
  try {
    yield* { [Symbol.asyncIterator]: () => duplex[Symbol.asyncIterator]() };
  } catch (error) {
    signal.throwIfAborted();
    throw tap.error(error) satisfies MemberError;
  } finally {
    done();
    duplex.cancel();
  }
}

/** One request and its one answer over a stream that is ended afterwards. @throws what the stream ends with */
export async function askOnce(opened: object, request: object): Promise<unknown> {
  const duplex = opened as Duplex;
  duplex.on("error", () => {});
  duplex.write(request);
  for await (const answer of duplex) {
    duplex.end();
    duplex.cancel();
    return answer;
  }
  throw new Error("the stream ended without an answer");
}
