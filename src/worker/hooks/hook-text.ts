import { formatDuration, formatIso } from "../../base/duration.ts";
import { clean, cleanLines, pluralize } from "../../base/text.ts";
import type { HookPayload } from "./hook-payload.ts";

/** What a message says to people, as plain text without control characters. */
interface HookText {
  /** One line. */
  title: string;
  /** Names and values, in order. */
  facts: readonly (readonly [name: string, value: string])[];
  /** Last lines of the output; empty if there are none. */
  output: string;
}

/** Longest output in a message, characters. The services limit messages to a few thousand. */
const LONGEST_OUTPUT = 1_500;

/** Describes an event for people. */
export function buildHookText(payload: HookPayload): HookText {
  const { schedule, host, scheduledTime, attempt, run, again, reason, tail = "" } = payload;
  const facts = [
    ["Scheduled", scheduledTime],
    ["Host", host],
    ["Attempt", attempt?.toString()],
    ["Reason", reason === undefined ? undefined : clean(reason)],
    ["Next attempt", again === undefined ? undefined : formatIso(again)],
    ["Run", run],
  ] as const;
  return {
    title: clean(`${schedule} ${describeEvent(payload)}`),
    facts: facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    output: cleanLines(tail).slice(-LONGEST_OUTPUT),
  };
}

function describeEvent(payload: HookPayload): string {
  const { event, late = 0, count = 1, attempt, bound = 0, startedAt = 0, endedAt = 0 } = payload;
  switch (event) {
    case "start":
      return "has started";
    case "success":
      return "has succeeded";
    case "recovered":
      return "has succeeded again";
    case "dead":
      return `was given up${attempt === undefined ? "" : ` after ${pluralize(attempt, "attempt")}`}`;
    case "late":
      return `has started ${formatDuration(Math.round(late / 1_000) * 1_000)} late`;
    case "missed":
      return `was skipped ${count === 1 ? "once" : `${count} times`}`;
    case "overrun":
      return `has been running for more than ${formatDuration(bound)}`;
    case "too-short":
      return `has succeeded after ${formatDuration(endedAt - startedAt)}, sooner than expected`;
    case "failure":
    case "failed-first":
      return describeFailure(payload);
  }
}

function describeFailure({ result, code }: HookPayload): string {
  if (result === "timeout") return "took too long and was ended";
  if (result === "lost") return "was interrupted";
  return code === undefined ? "has failed" : `has failed with exit code ${code}`;
}

/** The program that takes mail on Unix systems. Cron uses it too. */
const SENDMAIL = "/usr/sbin/sendmail";

/** Builds the command that sends a mail, and its standard input. */
export function buildMail(
  recipients: readonly string[],
  { title, facts, output }: HookText,
): { argv: readonly string[]; input: string } {
  const headers = [
    `To: ${recipients.join(", ")}`,
    `Subject: ${encodeHeader(`signalbox: ${title}`)}`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
  ];
  const lines = [title, "", ...facts.map(([name, value]) => `${name}: ${value}`)];
  const body = output === "" ? lines : [...lines, "", "Last output:", "", output];
  return { argv: [SENDMAIL, "-i", ...recipients], input: `${headers.join("\n")}\n\n${body.join("\n")}\n` };
}

/** Characters of one encoded word, which may be 75 bytes long. */
const WORD_LENGTH = 14;

/** Encodes a header that is not plain ASCII. @see RFC 2047 */
export function encodeHeader(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const chars = [...text];
  const words = Array.from({ length: Math.ceil(chars.length / WORD_LENGTH) }, (_, at) =>
    chars.slice(at * WORD_LENGTH, (at + 1) * WORD_LENGTH).join(""),
  );
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString("base64")}?=`).join(" ");
}

/** Longest summary that PagerDuty accepts, characters. */
const LONGEST_SUMMARY = 1_024;
/** Events that end an alert. */
const RESOLVING: ReadonlySet<string> = new Set(["success", "recovered"]);
const SEVERITIES: Readonly<Partial<Record<HookPayload["event"], string>>> = {
  start: "info",
  late: "warning",
  missed: "warning",
  overrun: "warning",
  "too-short": "warning",
};

/**
 * Builds an event of version 2 of PagerDuty's interface: it triggers the alert of a schedule, or resolves it.
 * @param key  routing key of the service
 * @see https://developer.pagerduty.com/docs/events-api-v2/trigger-events
 */
export function buildPagerdutyBody(
  { event, schedule, host, type }: HookPayload,
  { title, facts, output }: HookText,
  key: string,
): unknown {
  const alert = { routing_key: key, dedup_key: `signalbox/${schedule}`, client: "signalbox" };
  if (RESOLVING.has(event)) return { ...alert, event_action: "resolve" };
  const details = { ...Object.fromEntries(facts), ...(output !== "" && { Output: output }) };
  const payload = {
    summary: title.slice(0, LONGEST_SUMMARY),
    source: host,
    severity: SEVERITIES[event] ?? "error",
    component: schedule,
    class: type,
    custom_details: details,
  };
  return { ...alert, event_action: "trigger", payload };
}

/** Builds the body for an incoming webhook. @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export function buildSlackBody({ title, facts, output }: HookText): unknown {
  const lines = [
    `*${escapeMarkup(title)}*`,
    ...facts.map(([name, value]) => escapeMarkup(`${name}: ${value}`)),
  ];
  const code = output === "" ? [] : [`\`\`\`${escapeMarkup(output).replaceAll("```", "'''")}\`\`\``];
  return { text: [...lines, ...code].join("\n") };
}

/** Slack reads only these three characters as markup of its own. */
function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Builds the body for a workflow of Microsoft Teams that posts cards. @see https://adaptivecards.microsoft.com */
export function buildTeamsBody({ title, facts, output }: HookText): unknown {
  const body: unknown[] = [
    { type: "TextBlock", text: title, weight: "bolder", size: "medium", wrap: true },
    { type: "FactSet", facts: facts.map(([name, value]) => ({ title: name, value })) },
  ];
  if (output !== "")
    body.push({
      type: "TextBlock",
      text: output.replaceAll("\n", "\n\n"),
      fontType: "monospace",
      wrap: true,
    });
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body,
  };
  return {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }],
  };
}
