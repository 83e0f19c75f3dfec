import http from "node:http";
import https from "node:https";
import type { Hook, HookName } from "../../schedule/definition-values.ts";
import { HOOK_ADDRESS_FORM, type HookFormat, parseHookAddress } from "../../schedule/hook-address.ts";
import { type HookPayload, insertEventPath } from "./hook-payload.ts";
import {
  buildHookText,
  buildMail,
  buildPagerdutyBody,
  buildSlackBody,
  buildTeamsBody,
  encodeHeader,
} from "./hook-text.ts";

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

/** What a hook does for one event: post a body, or run a command. */
export type HookMessage =
  | { kind: "post"; url: URL; headers: Readonly<Record<string, string>>; body: string }
  | { kind: "command"; argv: readonly string[]; input: string };

const JSON_HEADERS = { "content-type": "application/json" };
/** Priorities of ntfy, 1 to 5; 3 without one. */
const PRIORITIES: Readonly<Partial<Record<HookName, string>>> = {
  failure: "4",
  "failed-first": "4",
  dead: "5",
  missed: "4",
};

/** Builds the message of a hook. @returns a fault if its address is none */
export function buildHookMessage(hook: Hook, payload: HookPayload): HookMessage | { fault: string } {
  if (typeof hook !== "string") return { kind: "command", argv: hook, input: `${JSON.stringify(payload)}\n` };
  const address = parseHookAddress(insertEventPath(hook, payload.event));
  if (address === undefined) return { fault: `its address is not of the form ${HOOK_ADDRESS_FORM}` };
  if (address.format === "mail")
    return { kind: "command", ...buildMail(address.recipients, buildHookText(payload)) };
  return buildPost(address.format, new URL(address.url), payload);
}

function buildPost(format: "json" | HookFormat, url: URL, payload: HookPayload): HookMessage {
  const buildJson = (body: unknown): HookMessage => ({
    kind: "post",
    url,
    headers: JSON_HEADERS,
    body: JSON.stringify(body),
  });
  if (format === "json") return buildJson(payload);
  const text = buildHookText(payload);
  if (format === "slack") return buildJson(buildSlackBody(text));
  if (format === "teams") return buildJson(buildTeamsBody(text));
  if (format === "ntfy") {
    const lines = [...text.facts.map(([name, value]) => `${name}: ${value}`), text.output];
    const headers = { title: encodeHeader(text.title), priority: PRIORITIES[payload.event] ?? "3" };
    return { kind: "post", url, headers, body: lines.join("\n").trimEnd() };
  }
  const key = url.searchParams.get("routing_key") ?? "";
  url.searchParams.delete("routing_key"); // it belongs into the body
  return buildJson(buildPagerdutyBody(payload, text, key));
}
