import http from "node:http";
import https from "node:https";
import type { HookMessage } from "./hook-message.ts";

/** Why a call failed. */
export interface HookFault {
  fault: string;
  /** Whether another attempt may succeed. */
  canRetry: boolean;
}

/**
 * Posts a message. Does not read the body of the response, and does not follow redirects, so that only the operator
 * chooses the receiver.
 * @param within  ms after which the call fails
 * @param signal  aborts the call
 * @returns undefined when the status was 2xx
 */
export function postHook(
  { url, headers: own, body }: Extract<HookMessage, { kind: "post" }>,
  { within, signal }: { within: number; signal: AbortSignal },
): Promise<HookFault | undefined> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(within)]);
  const headers = {
    ...own,
    "content-length": Buffer.byteLength(body),
    "user-agent": "signalbox",
  };
  const options = { method: "POST", agent: false, headers, signal: either, maxHeaderSize: 16_384 };
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve) => {
    const call = request(url.href, options, (answer) => {
      answer.on("error", () => {}); // the response is cut off below
      resolve(findResponseFault(answer, url));
      call.destroy();
    });
    call.on("error", (error) => {
      const isLate = either.aborted && !signal.aborted;
      resolve({ fault: isLate ? `no answer within ${within / 1_000} s` : error.message, canRetry: true });
    });
    call.end(body);
  });
}

function findResponseFault(
  { statusCode: code = 0, headers }: http.IncomingMessage,
  url: URL,
): HookFault | undefined {
  if (code >= 200 && code < 300) return undefined;
  if (code < 300 || code >= 400)
    return { fault: `it answered ${code}`, canRetry: code >= 500 || code === 429 };
  const host = URL.parse(headers.location ?? "", url.href)?.host ?? "nowhere";
  return { fault: `it answered ${code}, a redirect to ${host}; use that address`, canRetry: false };
}
