import type { Socket } from "node:net";
import { socketError } from "../classify.ts";
import type { WatchStream } from "../member.ts";
import { AnswerReader, HttpFault } from "./answer.ts";
import { BODY_MAX } from "./connection.ts";
import { head, type Line, unwrap, unwrapLine } from "./exchange.ts";

const LINE_FEED = 10;

/**
 * Watches over the gateway: one POST whose body stays open for requests and whose answer streams JSON, one object a
 * line. Both ways at once works only with `Connection: close`: otherwise etcd's HTTP server throws away what is
 * left of the body as soon as it begins to answer, and with it every create request but the first few.
 */
export function openStream(line: Line, token: string | undefined, signal: AbortSignal): WatchStream {
  const opening = head(line, "/v3/watch", token, "transfer-encoding: chunked", "connection: close");
  const socket = line.pool.dial();
  socket.on("error", () => {}); // also told to whoever reads; nobody may be
  const onAbort = () => socket.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  else socket.write(opening);
  return {
    send: (message) => {
      if (socket.writable) socket.write(chunk(`${JSON.stringify(message)}\n`));
    },
    responses: responses(line, socket, signal),
  };
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

async function* responses(line: Line, socket: Socket, signal: AbortSignal): AsyncGenerator<unknown, void> {
  const reader = new AnswerReader();
  try {
    for await (const text of linesOf(reader, socket)) {
      if (reader.status !== 200) unwrap(line, { status: reader.status, text });
      yield unwrapLine(line, JSON.parse(text));
    }
    if (reader.status !== 200) unwrap(line, { status: reader.status, text: "" });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && error.name === "StoreError" ? error : socketError(line.url, error);
  } finally {
    socket.destroy();
  }
}

/** The lines of an answer, wherever its chunks are cut; a last one without a line feed as well. @throws HttpFault */
async function* linesOf(reader: AnswerReader, socket: Socket): AsyncGenerator<string, void> {
  const line = new LineParts();
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    for (const part of reader.take(bytes)) yield* line.add(part);
    if (reader.isDone) break;
  }
  if (!reader.isDone) reader.end();
  const last = line.end();
  if (last !== "") yield last;
}

/** Bytes are joined before they are decoded: a character may be cut too. */
class LineParts {
  #parts: Buffer[] = [];
  #length = 0;

  /** @returns the lines that these bytes complete */
  *add(bytes: Buffer): Generator<string, void> {
    let rest = bytes;
    for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
      this.#keep(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      yield this.end();
    }
    this.#keep(rest);
  }

  /** What there is of the line under way. */
  end(): string {
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#length = 0;
    return text;
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > BODY_MAX) throw new HttpFault("EBADHTTP", "a line of the watch is too long");
    this.#parts.push(part);
  }
}
