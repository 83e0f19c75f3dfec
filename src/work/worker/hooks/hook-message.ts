import type { Hook, HookName } from "../../../schedule/definition-values.ts";
import { HOOK_ADDRESS_FORM, type HookFormat, parseHookAddress } from "../../../schedule/hook-address.ts";
import { type HookPayload, insertEventPath } from "./hook-payload.ts";
import { buildHookText } from "./messages/hook-text.ts";
import { buildMail, encodeHeader } from "./messages/mail.ts";
import { buildPagerdutyBody } from "./messages/pagerduty.ts";
import { buildSlackBody } from "./messages/slack.ts";
import { buildTeamsBody } from "./messages/teams.ts";

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
