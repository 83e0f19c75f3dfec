import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { socketError } from "../classify.ts";
import type { WatchStream } from "../member.ts";
import { jsonHeaders, type Line, unwrap, unwrapLine } from "./exchange.ts";

/** The kernel asks a silent peer for a sign of life after this many milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Watches over the gateway: one POST whose body stays open for requests and whose answer streams JSON, one object a
 * line. Both ways at once works only with `Connection: close` (no agent): otherwise etcd's HTTP server throws away what is
 * left of the body as soon as it begins to answer, and with it every create request but the first few.
 */
export function openStream(line: Line, token: string | undefined, signal: AbortSignal): WatchStream {
  const headers = jsonHeaders(token);
  const request = line.request({
    ...line.target,
    method: "POST",
    path: "/v3/watch",
    agent: false,
    headers,
    signal,
  });
  request.on("error", () => {}); // also told to whoever reads; nobody may be
  request.on("socket", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  const response = once(request, "response") as Promise<[IncomingMessage]>;
  response.catch(() => {});
  return {
    send: (message) => {
      if (request.writable) request.write(`${JSON.stringify(message)}\n`);
    },
    responses: responses(line, request, response, signal),
  };
}

async function* responses(
  line: Line,
  request: ClientRequest,
  response: Promise<[IncomingMessage]>,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  try {
    const [incoming] = await response;
    const lines = linesOf(incoming);
    if (incoming.statusCode !== 200) {
      const { value } = await lines.next();
      unwrap(line, { status: incoming.statusCode ?? 0, text: value ?? "" });
    }
    for await (const text of lines) yield unwrapLine(line, JSON.parse(text));
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && error.name === "StoreError" ? error : socketError(line.url, error);
  } finally {
    request.destroy();
  }
}

/** The lines of a stream, wherever its chunks are cut; a last one without a line feed as well. */
async function* linesOf(incoming: IncomingMessage): AsyncGenerator<string, void> {
  incoming.setEncoding("utf8");
  let parts: string[] = [];
  for await (const chunk of incoming as AsyncIterable<string>) {
    const [first = "", ...rest] = chunk.split("\n");
    parts.push(first);
    for (const next of rest) {
      yield parts.join("");
      parts = [next];
    }
  }
  const last = parts.join("");
  if (last !== "") yield last;
}
