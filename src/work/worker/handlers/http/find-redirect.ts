import type { IncomingHttpHeaders } from "node:http";
import type { HttpRequest } from "./open-request.ts";

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
