import http from "node:http";
import https from "node:https";

/** What went wrong with a call. */
export interface HookFault {
  fault: string;
  /** Another attempt may go better. */
  mayPass: boolean;
}

/**
 * Posts a word. What is answered is not read; a redirect is not followed, so that nobody but the operator chooses who is told.
 * @param within  ms after which it counts as a fault
 * @param signal  gives it up
 * @returns undefined where the answer was 2xx
 */
export function post(
  url: URL,
  body: string,
  { within, signal }: { within: number; signal: AbortSignal },
): Promise<HookFault | undefined> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(within)]);
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "user-agent": "signalbox",
  };
  const options = { method: "POST", agent: false, headers, signal: either, maxHeaderSize: 16_384 };
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve) => {
    const call = request(url.href, options, (answer) => {
      answer.on("error", () => {}); // it is cut off below
      resolve(faultOf(answer, url));
      call.destroy();
    });
    call.on("error", (error) => {
      const isLate = either.aborted && !signal.aborted;
      resolve({ fault: isLate ? `no answer within ${within / 1_000} s` : error.message, mayPass: true });
    });
    call.end(body);
  });
}

function faultOf({ statusCode: code = 0, headers }: http.IncomingMessage, url: URL): HookFault | undefined {
  if (code >= 200 && code < 300) return undefined;
  if (code < 300 || code >= 400)
    return { fault: `it answered ${code}`, mayPass: code >= 500 || code === 429 };
  const host = URL.parse(headers.location ?? "", url.href)?.host ?? "nowhere";
  return { fault: `it answered ${code}, to ${host}; write that address`, mayPass: false };
}
