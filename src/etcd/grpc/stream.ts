import type { MemberError, WatchStream } from "../member.ts";
import type { CallInterceptor } from "./call-interceptor.ts";

/** The used part of a gRPC duplex stream. etcd3's types do not declare that it is a Node stream. */
interface Duplex {
  write(message: object): unknown;
  end(): void;
  cancel(): void;
  on(event: "error", handler: (error: Error) => void): unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

/** Sends and receives messages over a stream that etcd3 opened. Ends when the signal is aborted. */
export function openGrpcStream(opened: object, tap: CallInterceptor, signal: AbortSignal): WatchStream {
  const duplex = opened as Duplex;
  let over = false;
  const stop = () => {
    over = true;
    duplex.cancel();
  };
  duplex.on("error", () => {
    over = true; // the reader receives it too, but there may be none
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return {
    send: (message) => {
      if (!over) duplex.write(message);
    },
    responses: readResponses(duplex, tap, signal, () => signal.removeEventListener("abort", stop)),
  };
}

async function* readResponses(
  duplex: Duplex,
  tap: CallInterceptor,
  signal: AbortSignal,
  done: () => void,
): AsyncGenerator<unknown, void> {
  try {
    yield* { [Symbol.asyncIterator]: () => duplex[Symbol.asyncIterator]() };
  } catch (error) {
    signal.throwIfAborted();
    throw tap.toMemberError(error) satisfies MemberError;
  } finally {
    done();
    duplex.cancel();
  }
}

/** Sends one request, reads one response and ends the stream. @throws the error that ended the stream */
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
