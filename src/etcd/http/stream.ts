import type { Socket } from "node:net";
import type { WatchStream } from "../member.ts";
import { createSocketError } from "../member-errors.ts";
import { BODY_MAX } from "./connection.ts";
import {
  formatRequestHead,
  type GatewayTarget,
  unwrapResponse,
  unwrapStreamLine,
} from "./gateway-request.ts";
import { HttpFault, HttpResponseReader } from "./response-reader.ts";

const LINE_FEED = 10;

/**
 * Opens a stream for watches over the gateway: one POST whose body stays open for requests, and whose response streams
 * JSON with one object per line. Both directions at once work only with `Connection: close`. Otherwise etcd's HTTP
 * server discards the rest of the body when it starts to respond, including every create request but the first few.
 */
export function openGatewayStream(
  line: GatewayTarget,
  token: string | undefined,
  signal: AbortSignal,
): WatchStream {
  const opening = formatRequestHead(
    line,
    "/v3/watch",
    token,
    "transfer-encoding: chunked",
    "connection: close",
  );
  const socket = line.pool.dial();
  socket.on("error", () => {}); // the reader receives it too, but there may be none
  const onAbort = () => socket.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  else socket.write(opening);
  return {
    send: (message) => {
      if (socket.writable) socket.write(encodeChunk(`${JSON.stringify(message)}\n`));
    },
    responses: readResponses(line, socket, signal),
  };
}

function encodeChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

async function* readResponses(
  line: GatewayTarget,
  socket: Socket,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  const reader = new HttpResponseReader();
  try {
    for await (const text of readLines(reader, socket)) {
      if (reader.status !== 200) unwrapResponse(line, { status: reader.status, text });
      yield unwrapStreamLine(line, JSON.parse(text));
    }
    if (reader.status !== 200) unwrapResponse(line, { status: reader.status, text: "" });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && error.name === "StoreError" ? error : createSocketError(line.url, error);
  } finally {
    socket.destroy();
  }
}

/**
 * Yields the lines of a response across chunk boundaries, including a last line without a line feed.
 * @throws HttpFault
 */
async function* readLines(reader: HttpResponseReader, socket: Socket): AsyncGenerator<string, void> {
  const line = new LineBuffer();
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    for (const part of reader.consume(bytes)) yield* line.append(part);
    if (reader.isDone) break;
  }
  if (!reader.isDone) reader.end();
  const last = line.flush();
  if (last !== "") yield last;
}

/** Joins bytes before decoding, because a chunk boundary may split a character. */
class LineBuffer {
  #parts: Buffer[] = [];
  #length = 0;

  /** @returns the lines that these bytes complete */
  *append(bytes: Buffer): Generator<string, void> {
    let rest = bytes;
    for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
      this.#appendPart(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      yield this.flush();
    }
    this.#appendPart(rest);
  }

  /** Returns the text of the current line so far and clears it. */
  flush(): string {
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#length = 0;
    return text;
  }

  #appendPart(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > BODY_MAX) throw new HttpFault("EBADHTTP", "a line of the watch is too long");
    this.#parts.push(part);
  }
}
