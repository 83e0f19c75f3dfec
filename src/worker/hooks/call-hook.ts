import http from "node:http";
import https from "node:https";
import {
  addMs,
  formatDuration,
  formatIso,
  listenForAbort,
  type Millis,
  type MonotonicTime,
} from "../../core/base/clock.ts";
import { clean, cleanLines, pluralize, quoteText } from "../../core/base/text.ts";
import { buildTraceHeaders, buildTraceVariables, type TraceContext } from "../../core/base/trace.ts";
import type { CommandExit, GuardedCommand } from "../../core/process/guarded-command/command.ts";
import {
  HOOK_ADDRESS_FORM,
  type Hook,
  type HookFormat,
  type HookName,
  parseHookAddress,
} from "../../schedule/definition-values.ts";
import type { HandlerPorts } from "../worker-ports.ts";
import { addEventPath, type HookPayload, insertEventPath } from "./hook-payload.ts";

interface HookCallLimits {
  /** Limit of one attempt. */
  within: Millis;
  /** Aborts the call. */
  signal: AbortSignal;
  /** What the call passes on. */
  trace: TraceContext;
}

/** Pause before the second attempt, ms; up to half of it is added at random. */
const RETRY_PAUSE_MS = 1_000;

/**
 * Calls a hook. Retries a URL once if it does not answer, or if its status allows a retry. Does not retry a command: it
 * may have done half of its work.
 * @returns the error of the last attempt, undefined on success. Never rejects
 */
export async function callHook(
  ports: HookPorts,
  hook: Hook,
  payload: HookPayload,
  limits: HookCallLimits,
): Promise<string | undefined> {
  try {
    const first = await attemptCall(ports, hook, payload, limits);
    if (first?.canRetry !== true) return first?.fault;
    await ports.clock.sleep(RETRY_PAUSE_MS * (1 + ports.random.generateFraction() / 2), limits.signal);
    return (await attemptCall(ports, hook, payload, limits))?.fault;
  } catch (error) {
    return (error as Error).message;
  }
}

async function attemptCall(
  ports: HookPorts,
  hook: Hook,
  payload: HookPayload,
  limits: HookCallLimits,
): Promise<HookFault | undefined> {
  limits.signal.throwIfAborted();
  const message = buildHookMessage(hook, payload);
  if ("fault" in message) return { fault: message.fault, canRetry: false };
  return message.kind === "command"
    ? await runHookCommand(ports, message, payload, limits)
    : await postHook(message, limits);
}

/** Formats a hook for the log. Omits the path of a URL, which often contains a secret. */
export function formatHook(hook: Hook): string {
  if (typeof hook !== "string") return quoteText(hook[0] ?? "");
  const address = parseHookAddress(hook.replaceAll("{event}", ""));
  if (address === undefined) return "no address";
  return address.format === "mail" ? "mail" : new URL(address.url).host;
}

/** Why a call failed. */
interface HookFault {
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
function postHook(
  { url, headers: own, body }: Extract<HookMessage, { kind: "post" }>,
  { within, signal, trace }: HookCallLimits,
): Promise<HookFault | undefined> {
  const headers = {
    ...own,
    ...buildTraceHeaders(trace),
    "content-length": Buffer.byteLength(body),
    "user-agent": "signalbox",
  };
  const options = { method: "POST", agent: false, headers, signal, maxHeaderSize: 16_384 };
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve) => {
    const call = request(url.href, options, (answer) => {
      answer.on("error", () => {}); // the response is cut off below
      resolve(findResponseFault(answer, url));
      call.destroy();
    });
    call.on("error", ({ message }) => resolve({ fault: message, canRetry: true }));
    call.on("close", () => resolve({ fault: "the server changed the protocol", canRetry: false })); // there was neither answer nor error
    // As in member-metrics.ts: Node.js 22 may collect a timeout to which only an `AbortSignal.any` listens.
    const late = new Error(`no answer within ${within / 1_000} s`);
    listenForAbort(AbortSignal.timeout(within), () => call.destroy(late));
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
  overrun: "4",
  "too-short": "4",
};

/** Builds the message of a hook. @returns a fault if its address is not valid */
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
  if (format === "ping") {
    const isGood = payload.event === "start" || RESOLVING_EVENTS.has(payload.event);
    const lines = isGood ? [] : [text.title, "", text.output];
    return { kind: "post", url: addEventPath(url, payload), headers: {}, body: lines.join("\n").trimEnd() };
  }
  if (format === "ntfy") {
    const lines = [...text.facts.map(([name, value]) => `${name}: ${value}`), text.output];
    const headers = { title: encodeHeader(text.title), priority: PRIORITIES[payload.event] ?? "3" };
    return { kind: "post", url, headers, body: lines.join("\n").trimEnd() };
  }
  const key = url.searchParams.get("routing_key") ?? "";
  url.searchParams.delete("routing_key"); // it belongs into the body
  return buildJson(buildPagerdutyBody(payload, text, key));
}

/** What hooks need from their environment. */
export type HookPorts = Omit<HandlerPorts, "secrets" | "terminationTimeout" | "user">;

/** Time between TERM and KILL, ms. */
const TERMINATION_TIMEOUT_MS = 2_000;

/** How many characters of the output to keep for the log. */
const LONGEST_OUTPUT = 300;

/**
 * Runs a hook's command under the guardian, with the payload in its environment. All its processes are gone when
 * this resolves.
 * @param within  ms until the command gets TERM
 */
async function runHookCommand(
  { clock, commands, env: inherited }: HookPorts,
  { argv: [file = "", ...args], input }: { argv: readonly string[]; input: string },
  payload: HookPayload,
  { within, signal, trace }: HookCallLimits,
): Promise<HookFault | undefined> {
  const { TRACESTATE: _, ...env } = inherited; // only that of the trace of this event
  let output = "";
  const written = Promise.withResolvers<void>();
  const streams = {
    input,
    onOutput: (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-LONGEST_OUTPUT);
    },
    onEnd: () => written.resolve(),
  };
  const command = await commands.prepare({
    file,
    args,
    env: { ...env, ...buildVariables(payload), ...buildTraceVariables(trace) },
    streams,
  });
  const end = () => command.terminate(addMs(clock.now(), TERMINATION_TIMEOUT_MS));
  signal.addEventListener("abort", end, { once: true });
  try {
    const exit = await runToExit(command, addMs(clock.now(), within));
    if (exit.leftovers && !exit.terminated) end();
    await command.gone;
    await written.promise; // the end of the output arrives separately from the end of the processes
    return findExitFault(exit, output);
  } catch (error) {
    await command.release();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

async function runToExit(command: GuardedCommand, termAt: MonotonicTime): Promise<CommandExit> {
  command.arm({ termAt, killAt: addMs(termAt, TERMINATION_TIMEOUT_MS) });
  await command.start({});
  return await command.exited;
}

function findExitFault(
  { code, signal, terminated, why }: CommandExit,
  output: string,
): HookFault | undefined {
  if (code === 0 && !terminated) return undefined;
  const how = terminated
    ? `it was ended: ${why ?? "its timeout has passed"}`
    : code === undefined
      ? `signal ${signal}`
      : `exit code ${code}`;
  return { fault: output.trim() === "" ? how : `${how}; its output: ${output.trim()}`, canRetry: false };
}

/**
 * Builds the variables of the hook. The run's id is not among them: the guardian finds the processes of a task by it.
 */
function buildVariables(payload: HookPayload): Record<string, string> {
  const { event, schedule, locks, type, scheduled, scheduledTime, attempt, late, result, code, reason } =
    payload;
  const named = {
    EVENT: event,
    SCHEDULE: schedule,
    LOCKS: locks?.join(","),
    TYPE: type,
    SCHEDULED: scheduledTime,
    SCHEDULED_MS: scheduled,
    ATTEMPT: attempt,
    LATE_MS: late,
    RESULT: result,
    CODE: code,
    REASON: reason,
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [`SIGNALBOX_${name}`, String(value).replaceAll("\0", "")]),
  );
}

/** What a message says to people, as plain text without control characters. */
interface HookText {
  /** One line. */
  title: string;
  facts: readonly (readonly [name: string, value: string])[];
  /** Last lines of the output; empty if there are none. */
  output: string;
}

/** Longest output in a message, characters. The services limit messages to a few thousand. */
const LONGEST_TAIL = 1_500;

/** Describes an event for people. */
function buildHookText(payload: HookPayload): HookText {
  const { command, host, scheduledTime, attempt, run, again, reason, tail = "" } = payload;
  const facts = [
    ["Scheduled", scheduledTime],
    ["Command", command],
    ["Host", host],
    ["Attempt", attempt?.toString()],
    ["Reason", reason === undefined ? undefined : clean(reason)],
    ["Next attempt", again === undefined ? undefined : formatIso(again)],
    ["Run", run],
  ] as const;
  return {
    title: clean(`${nameSubject(payload)} ${describeEvent(payload)}`),
    facts: facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    output: cleanLines(tail).slice(-LONGEST_TAIL),
  };
}

/** Names what the event is about: a schedule, or a run by its locks or its program. */
function nameSubject({ schedule, locks = [], command = "" }: HookPayload): string {
  return schedule ?? (locks.length === 0 ? command : locks.join(", "));
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
const SENDMAIL_PATH = "/usr/sbin/sendmail";

/** Builds the command that sends a mail, and its standard input. */
function buildMail(
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
  return {
    argv: [SENDMAIL_PATH, "-i", ...recipients],
    input: `${headers.join("\n")}\n\n${body.join("\n")}\n`,
  };
}

/** Characters of one encoded word, which may be 75 bytes long. */
const WORD_LENGTH = 14;

/** Encodes a header that is not plain ASCII. @see RFC 2047 */
function encodeHeader(text: string): string {
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
const RESOLVING_EVENTS: ReadonlySet<string> = new Set(["success", "recovered"]);
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
function buildPagerdutyBody(hook: HookPayload, { title, facts, output }: HookText, key: string): unknown {
  const { event, host, type } = hook;
  const subject = nameSubject(hook);
  const alert = { routing_key: key, dedup_key: `signalbox/${subject}`, client: "signalbox" };
  if (RESOLVING_EVENTS.has(event)) return { ...alert, event_action: "resolve" };
  const details = { ...Object.fromEntries(facts), ...(output !== "" && { Output: output }) };
  const payload = {
    summary: title.slice(0, LONGEST_SUMMARY),
    source: host,
    severity: SEVERITIES[event] ?? "error",
    component: subject,
    class: type,
    custom_details: details,
  };
  return { ...alert, event_action: "trigger", payload };
}

/** Builds the body for an incoming webhook. @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function buildSlackBody({ title, facts, output }: HookText): unknown {
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
function buildTeamsBody({ title, facts, output }: HookText): unknown {
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
