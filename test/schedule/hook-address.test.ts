import { describe, expect, test } from "vitest";
import { parseHookAddress, resemblesHookAddress } from "../../src/schedule/definition-values.ts";

describe("an address of a hook", () => {
  test.each([
    ["HTTP://alerts.example.com/{event}", { format: "json", url: "HTTP://alerts.example.com/{event}" }],
    ["slack+https://hooks.slack.com/a", { format: "slack", url: "https://hooks.slack.com/a" }],
    ["Teams+https://example.com/a?b=c", { format: "teams", url: "https://example.com/a?b=c" }],
    ["ntfy+http://127.0.0.1:8080/jobs", { format: "ntfy", url: "http://127.0.0.1:8080/jobs" }],
    ["mailto:root,dba", { format: "mail", recipients: ["root", "dba"] }],
  ])("%s", (text, expected) => {
    expect(resemblesHookAddress(text)).toBe(true);
    expect(parseHookAddress(text)).toEqual(expected);
  });

  test.each([
    "https://",
    "ftp://example.com",
    "discord+https://example.com",
    "mailto:",
    "mailto:-bcc@example.com",
    "mailto:a@example.com,",
    "mailto:a b@example.com",
    "mailto:a@example.com\nBcc: b@example.com",
    "mailto:a@example.com?bcc=b@example.com",
  ])("%j is meant as one, and is refused", (text) => {
    expect(resemblesHookAddress(text)).toBe(true);
    expect(parseHookAddress(text)).toBeUndefined();
  });

  test.each(["notify --urgent", "./https://x", "slack+ops", "curl https://example.com"])(
    "%j is a command line",
    (text) => expect(resemblesHookAddress(text)).toBe(false),
  );
});
