import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";

/** A body that is compressed at most once, for any number of viewers. */
export class Body {
  readonly bytes: Buffer;
  #compressed: Buffer | undefined;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  compress(): Buffer {
    this.#compressed ??= gzipSync(this.bytes, { level: 5 });
    return this.#compressed;
  }
}

/** The answer to a request. */
export interface Reply {
  status: number;
  type: string;
  /** A text that is as large as the site comes in pieces. */
  body: Body | AsyncIterable<string> | Iterable<string>;
  headers?: Readonly<Record<string, string>>;
}

export const TYPES = {
  html: "text/html; charset=utf-8",
  json: "application/json; charset=utf-8",
  text: "text/plain; charset=utf-8",
  css: "text/css; charset=utf-8",
  script: "text/javascript; charset=utf-8",
  svg: "image/svg+xml; charset=utf-8",
  metrics: "text/plain; version=0.0.4; charset=utf-8",
  events: "text/event-stream; charset=utf-8",
};

export function createTextReply(status: number, message: string): Reply {
  return { status, type: TYPES.text, body: new Body(`${message}\n`) };
}

/** Nothing but what this server sends is loaded, and no other page may show or read it. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  vary: "accept, accept-encoding",
};

/** Within this time a list must be read, ms: until then its rows are kept. */
const READING_TIMEOUT_MS = 60_000;
/** Smaller texts do not get much smaller. */
const MIN_COMPRESSED_BYTES = 1_024;

/** Sends an answer. A large one is sent as fast as its reader takes it, and others are served meanwhile. */
export async function sendReply(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { status, type, body, headers: own }: Reply,
): Promise<void> {
  const isCompressed = /\bgzip\b/.test(String(headers["accept-encoding"] ?? ""));
  const all = { ...SECURITY_HEADERS, "content-type": type, ...own };
  const encoding = { "content-encoding": "gzip" };
  if (body instanceof Body) {
    const isSmall = body.bytes.length < MIN_COMPRESSED_BYTES;
    const bytes = isCompressed && !isSmall ? body.compress() : body.bytes;
    response.writeHead(status, {
      ...all,
      ...(bytes !== body.bytes && encoding),
      "content-length": bytes.length,
    });
    response.end(method === "HEAD" ? undefined : bytes);
    return;
  }
  response.writeHead(status, isCompressed ? { ...all, ...encoding } : all);
  if (method === "HEAD") return void response.end();
  const texts = Readable.from(interrupt(body));
  const signal = AbortSignal.timeout(READING_TIMEOUT_MS);
  try {
    if (isCompressed) await pipeline(texts, createGzip({ level: 1 }), response, { signal });
    else await pipeline(texts, response, { signal });
  } catch (error) {
    const isLeft = signal.aborted || (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
    if (!isLeft) throw error;
  }
}

/** Lets others run between two pieces. */
async function* interrupt(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield piece;
    await setImmediate();
  }
}
