import type { IncomingHttpHeaders } from "node:http";
import http from "node:http";
import https from "node:https";

/** The status and the headers of a response. */
export interface ResponseHead {
  status: number;
  headers: IncomingHttpHeaders;
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Returns the address of a redirect; undefined if the response is none, or its address cannot be read. */
export function findRedirectTarget({ status, headers }: ResponseHead, url: URL): URL | undefined {
  if (!REDIRECTS.includes(status) || headers.location === undefined) return undefined;
  return URL.parse(headers.location, url.href) ?? undefined;
}

/**
 * Builds the request that follows a redirect. Another server gets none of the configured headers.
 * @param ownHeaders  the headers that every server may get
 * @returns undefined if the response is no redirect, or if its address must not be followed: it is not http or https,
 *   or it leaves https
 */
export function buildRedirectedRequest(
  request: HttpRequest,
  response: ResponseHead,
  ownHeaders: HttpRequest["headers"],
): HttpRequest | undefined {
  const url = findRedirectTarget(response, request.url);
  if (url === undefined || !canFollow(request.url, url)) return undefined;
  url.username = "";
  url.password = "";
  const kept = url.origin === request.url.origin ? request.headers : ownHeaders;
  if ([307, 308].includes(response.status) || ["GET", "HEAD"].includes(request.method))
    return { ...request, url, headers: kept };
  const headers = Object.fromEntries(Object.entries(kept).filter(([name]) => name !== "content-type"));
  return { url, method: "GET", headers, body: undefined };
}

function canFollow(from: URL, to: URL): boolean {
  return to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");
}

/** A request to a web server. */
export interface HttpRequest {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}

/** Most bytes of the header lines of a response. */
const LONGEST_HEADERS = 16 * 1024;
/** Most bytes of a response that are read: the rest is cut off. */
const LONGEST_BODY = 1024 * 1024;
/** Most interim responses (1xx) before the response. */
const MOST_INTERIM = 100;

/**
 * Sends a request, on a connection of its own.
 * @param signal  aborts the request, and the reading of the response
 * @returns the response when its headers have arrived. The caller must end it with `destroy`
 * @throws the error of the connection
 */
export function openRequest(
  { url, method, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const { request } = url.protocol === "https:" ? https : http;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const options = {
    method,
    agent: false,
    signal,
    maxHeaderSize: LONGEST_HEADERS,
    headers: { ...headers, ...length },
  };
  return new Promise((resolve, reject) => {
    const call = request(url.href, options, (answer) => {
      answer.on("error", () => {}); // whoever reads it gets the error
      resolve(answer);
    });
    let interim = 0;
    call.on("information", () => {
      interim += 1;
      if (interim > MOST_INTERIM) call.destroy(new Error("too many interim responses"));
    });
    call.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("the server changed the protocol"));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/**
 * Reads the body of a response, at most 1 MiB.
 * @param onChunk  called with all that has arrived since the last call: not with every small piece
 * @param signal  aborts the request. A body without a length looks complete then
 * @throws the error of the connection, also if it ends too early; the signal's reason
 */
export async function readBody(
  answer: http.IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  let left = LONGEST_BODY;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    onChunk(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) return;
  }
  signal.throwIfAborted();
}
