import { describe, expect, test } from "vitest";
import {
  buildEnded,
  buildOverrun,
  buildSkipped,
  buildStarted,
  NOON,
} from "../../../fixtures/worker/events.ts";
import { HOOK_NAMES } from "../../../src/schedule/definition-values.ts";
import { buildHookMessage } from "../../../src/worker/hooks/call-hook.ts";
import { buildHookPayloads, type HookPayload } from "../../../src/worker/hooks/hook-payload.ts";

const HOST = "web1.example.com";
const [failure] = buildHookPayloads(
  buildEnded(
    { result: "failed", code: 3, tail: "no <mail> & more\n\u001b[31mred", attempt: 2 },
    { again: NOON + 60_000 },
  ),
  HOST,
  60_000,
) as [HookPayload];

function build(hook: string | string[], payload = failure) {
  const message = buildHookMessage(hook, payload);
  if ("fault" in message) throw new Error(message.fault);
  return message;
}

function readPost(hook: string, payload = failure) {
  const message = build(hook, payload);
  if (message.kind !== "post") throw new Error("it is no post");
  return message;
}

const parseBody = (hook: string, payload = failure) => JSON.parse(readPost(hook, payload).body);

describe("what is sent", () => {
  test("a command gets the document, and so does a plain URL", () => {
    expect(build(["notify", "--urgent"])).toEqual({
      kind: "command",
      argv: ["notify", "--urgent"],
      input: `${JSON.stringify(failure)}\n`,
    });
    const { url, headers, body } = readPost("https://example.com/x{event}");
    expect([url.href, headers, JSON.parse(body)]).toEqual([
      "https://example.com/x/fail",
      { "content-type": "application/json" },
      { ...failure },
    ]);
  });

  test("a check gets the exit code in the path, and the last lines of a failure", () => {
    const hook = "ping+https://hc-ping.com/uuid/?create=1";
    const { url, body } = readPost(hook);
    expect([url.href, body]).toEqual([
      "https://hc-ping.com/uuid/3?create=1",
      "mail.daily has failed with exit code 3\n\nno <mail> & more\nred",
    ]);
    const { code: _, ...timeout } = failure;
    expect(readPost(hook, timeout).url.pathname).toBe("/uuid/fail");
    for (const [event, path] of [
      ["start", "/uuid/start"],
      ["success", "/uuid"],
    ] as const) {
      const sent = readPost(hook, { ...failure, event });
      expect([sent.url.pathname, sent.body]).toEqual([path, ""]);
    }
  });

  test("Slack gets text, in which the output is no markup", () => {
    expect(parseBody("slack+https://hooks.slack.com/a").text.split("\n")).toEqual([
      "*mail.daily has failed with exit code 3*",
      "Scheduled: 2026-01-05T12:00:00.000Z",
      "Host: web1.example.com",
      "Attempt: 2",
      "Next attempt: 2026-01-05T12:01:00.000Z",
      "Run: r1",
      "```no &lt;mail&gt; &amp; more",
      expect.stringMatching(/^[^\u001b]*red```$/),
    ]);
  });

  test("Teams gets a card", () => {
    const { type, attachments } = parseBody("teams+https://example.com/a");
    expect([type, attachments[0].contentType]).toEqual([
      "message",
      "application/vnd.microsoft.card.adaptive",
    ]);
    const [title, facts, output] = attachments[0].content.body;
    expect(title.text).toBe("mail.daily has failed with exit code 3");
    expect(facts.facts).toContainEqual({ title: "Attempt", value: "2" });
    expect(output.text).toContain("no <mail> & more");
  });

  test("ntfy gets text with a title and a priority, in headers that are ASCII", () => {
    const { headers, body } = readPost("ntfy+https://ntfy.sh/jobs");
    expect(headers).toEqual({ title: "mail.daily has failed with exit code 3", priority: "4" });
    expect(body).toContain("Attempt: 2\n");
    const title = readPost("ntfy+https://ntfy.sh/jobs", { ...failure, schedule: "größter-bericht-übersicht" })
      .headers.title as string;
    const words = title.split(" ").map((word) => /^=\?UTF-8\?B\?(.*)\?=$/.exec(word)?.[1] ?? "");
    expect(words.map((word) => Buffer.from(word, "base64").toString()).join("")).toBe(
      "größter-bericht-übersicht has failed with exit code 3",
    );
    expect(Math.max(...title.split(" ").map(({ length }) => length))).toBeLessThanOrEqual(75);
  });

  test("PagerDuty gets an alert for each schedule, which a success resolves; the key is not in the address", () => {
    const hook = "pagerduty+https://events.pagerduty.com/v2/enqueue?routing_key=KEY";
    const { url, body } = readPost(hook);
    expect(url.href).toBe("https://events.pagerduty.com/v2/enqueue");
    expect(JSON.parse(body)).toMatchObject({
      routing_key: "KEY",
      event_action: "trigger",
      dedup_key: "signalbox/mail.daily",
      payload: { summary: "mail.daily has failed with exit code 3", severity: "error", source: HOST },
    });
    expect(parseBody(hook, { ...failure, event: "recovered" })).toEqual({
      routing_key: "KEY",
      event_action: "resolve",
      dedup_key: "signalbox/mail.daily",
      client: "signalbox",
    });
  });

  test("a mail goes to sendmail; nothing in the event can add a header or a recipient", () => {
    const bad = { ...failure, schedule: "x\nBcc: all@example.com", reason: "a\r\nb" };
    const message = build("mailto:ops@example.com,root", bad);
    if (message.kind !== "command") throw new Error("it is no command");
    expect(message.argv).toEqual(["/usr/sbin/sendmail", "-i", "ops@example.com", "root"]);
    const [head = "", body = ""] = message.input.split(/\n\n(.*)/s);
    expect(head.split("\n").map((line) => line.split(":", 1)[0])).toEqual([
      "To",
      "Subject",
      "Auto-Submitted",
      "MIME-Version",
      "Content-Type",
      "Content-Transfer-Encoding",
    ]);
    expect(body).toContain("Last output:\n\nno <mail> & more\n");
  });

  test("an invalid address is a fault that does not repeat the address: it may be a secret", () => {
    expect(buildHookMessage("discord+https://example.com/secret", failure)).toEqual({
      fault: expect.not.stringContaining("secret"),
    });
  });
});

test("every event has a title of its own", () => {
  const failed = { result: "failed" as const, attempt: 3 };
  const payloads = [
    ...buildHookPayloads(buildStarted({ late: 90_000 }), HOST, 60_000),
    ...buildHookPayloads(buildEnded({}, { wasFailing: true }), HOST, 60_000),
    ...buildHookPayloads(buildEnded(failed, { isDead: true }), HOST, 60_000),
    ...buildHookPayloads(buildSkipped(7), HOST, 60_000),
    ...buildHookPayloads(buildOverrun(90_000), HOST, 60_000),
    ...buildHookPayloads(buildEnded({ deviation: "too-short" }), HOST, 60_000),
  ];
  const titles = payloads.map((payload) => [
    payload.event,
    readPost("ntfy+https://x/y", payload).headers.title,
  ]);
  expect(titles).toEqual([
    ["start", "mail.daily has started"],
    ["late", "mail.daily has started 1m30s late"],
    ["success", "mail.daily has succeeded"],
    ["recovered", "mail.daily has succeeded again"],
    ["failure", "mail.daily has failed"],
    ["failed-first", "mail.daily has failed"],
    ["dead", "mail.daily was given up after 3 attempts"],
    ["missed", "mail.daily was skipped 7 times"],
    ["overrun", "mail.daily has been running for more than 1m30s"],
    ["success", "mail.daily has succeeded"],
    ["too-short", "mail.daily has succeeded after 2s, sooner than expected"],
  ]);
  expect(new Set(payloads.map(({ event }) => event))).toEqual(new Set(HOOK_NAMES));
});

test.each([
  ["a first failure", "failed", false, false, ["failure", "failed-first"]],
  ["a further one", "timeout", true, false, ["failure"]],
  ["the last one", "failed", true, true, ["failure", "dead"]],
  ["a success", "ok", false, false, ["success"]],
  ["the first success", "ok", true, false, ["success", "recovered"]],
  ["a task that asks for a retry", "retry", true, false, []],
] as const)("%s: %s, failing before: %s, given up: %s", (_, result, wasFailing, isDead, expected) => {
  const payloads = buildHookPayloads(buildEnded({ result }, { wasFailing, isDead }), HOST, 60_000);
  expect(payloads.map(({ event }) => event)).toEqual(expected);
});
