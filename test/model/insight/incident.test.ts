/** The report of an incident, as tables. */
import { describe, expect, it } from "vitest";
import type { SnapshotEvent } from "../../../src/model/events/event.ts";
import {
  type IncidentReport,
  listIncidentEntries,
  listProblemTexts,
} from "../../../src/model/insight/incident.ts";
import { formatIncidentMarkdown, quoteMarkdown } from "../../../src/model/insight/incident-text.ts";
import { serializeAuditRecord } from "../../../src/protocol/audit.ts";
import { appendPastRun } from "../../../src/protocol/history.ts";
import { keys } from "../../protocol/samples.ts";
import { NOW, pastRun, pictureOf, plain, stand } from "../pictures.ts";

const SPAN = { from: NOW - 600_000, until: NOW };
const history = (exit: number) =>
  plain(
    keys.history("x"),
    appendPastRun(undefined, pastRun({ exit, endedAt: NOW - 10_000, grantedAt: NOW - 20_000 })),
  );
const audit = plain(
  keys.audit("a1"),
  serializeAuditRecord({
    id: "a1",
    at: NOW - 5_000,
    user: "ann",
    host: "web1",
    action: "drain",
    target: "lock x",
    seen: 1n,
    outcome: "drained",
  }),
);
const seenEvent = (kind: SnapshotEvent["kind"], at: number): SnapshotEvent => ({
  at,
  kind,
  text: `${kind}  x  web1:1`,
  tone: "plain",
  subject: { kind: "lock", name: "x" },
});

describe("the timeline", () => {
  const list = (kvs: Parameters<typeof pictureOf>[0], seen?: { from: number; events: SnapshotEvent[] }) =>
    listIncidentEntries(
      { snapshot: pictureOf(kvs), outcomes: new Map(), ...(seen && { seen }) },
      SPAN,
    ).entries.map(({ kind, subject }) => `${kind} ${subject}`);
  it.each([
    ["nothing", [], []],
    ["a run", [history(0)], ["granted lock x", "ended lock x"]],
    ["a failed run, once", [history(3)], ["granted lock x", "failed lock x"]],
    ["an action", [audit], ["drained lock x"]],
    [
      "a run that holds",
      [stand("lock x", "a", 1, { state: "held", grantedAt: NOW - 1 })],
      ["granted lock x"],
    ],
    ["what was before", [stand("lock x", "a", 1, { state: "held", grantedAt: NOW - 700_000 })], []],
  ])("has %s", (_, kvs, kinds) => {
    expect(list(kvs)).toEqual(kinds);
  });

  it("takes from the console what it has seen, and from history what was before; the audit log counts once", () => {
    const events = [
      seenEvent("waiting", NOW - 8_000),
      seenEvent("drained", NOW - 5_000),
      seenEvent("audit", NOW - 5_000),
    ];
    const seen = { from: NOW - 15_000, events };
    expect(list([history(0), audit], seen)).toEqual(["granted lock x", "waiting lock x", "drained lock x"]);
  });

  it("says what history no longer has", () => {
    let text: string | undefined;
    for (let at = 0; at < 25; at += 1)
      text = appendPastRun(text, pastRun({ endedAt: NOW - 25_000 + at * 1_000 }));
    const inputs = { snapshot: pictureOf([plain(keys.history("x"), text ?? "")]), outcomes: new Map() };
    expect(listIncidentEntries(inputs, SPAN).notes).toEqual([expect.stringContaining("dropped of lock x")]);
  });
});

describe("quoted texts", () => {
  it.each([
    ["plain", "`plain`"],
    ["", ""],
    ["  ", ""],
    ["a | b", "`a ¦ b`"],
    ["a\\| b", "`a\\¦ b`"],
    ["a\nb\r\n| c |", "`a b ¦ c ¦`"],
    ["`x`", "`` `x` ``"],
    ["``` ` ", "```` ``` ` ````"],
    ["<img src=x onerror=alert(1)>", "`<img src=x onerror=alert(1)>`"],
    ["[x](http://evil.example)", "`[x](http://evil.example)`"],
  ])("%j is %s", (text, quoted) => {
    expect(quoteMarkdown(text)).toBe(quoted);
  });
  it("have no control characters, and an end", () => {
    expect(quoteMarkdown("\u001b]0;x\u0007a")).not.toMatch(/[\u0000-\u001f]/);
    expect(quoteMarkdown("a".repeat(9_000)).length).toBeLessThan(410);
  });
});

describe("the document", () => {
  const report: IncidentReport = {
    ...SPAN,
    title: "a | <b> [c](d)\n# e",
    cluster: "http://etcd1:2379 /signalbox/",
    by: "ann@web1",
    notes: [],
    entries: [{ at: NOW - 5_000, kind: "failed", subject: "lock a|b", detail: "exit 1\n| x |" }],
    problemsAtStart: undefined,
    problemsAtEnd: [],
    commands: [{ at: NOW, line: "signalbox drain lock x", result: "exit 0" }],
  };
  it("has every part, in order, whatever the names are", () => {
    const lines = formatIncidentMarkdown(report).split("\n");
    expect(lines[0]).toBe("# a \\| \\<b\\> \\[c\\]\\(d\\) \\# e");
    expect(lines.filter((line) => line.startsWith("## "))).toEqual([
      "## Timeline",
      "## Problems at the start",
      "## Problems at the end",
      "## Commands used",
    ]);
    expect(lines).toContain("| 2023-11-14 22:14:55Z | failed | `lock a¦b` | `exit 1 ¦ x ¦` |");
    expect(lines).toContain("Not known.");
    expect(lines).toContain("| 2023-11-14 22:15:00Z | `signalbox drain lock x` | `exit 0` |");
    for (const line of lines.filter((one) => one.startsWith("| ")))
      expect(line).toMatch(/^\|[^|]+(\|[^|]+){2,3}\|$/);
  });
  it("says what is missing", () => {
    expect(formatIncidentMarkdown({ ...report, notes: ["no etcd"] })).toContain(
      "## What is missing\n\n- `no etcd`",
    );
  });
});

it("lists problems as texts", () => {
  expect(listProblemTexts(pictureOf([plain(keys.lock("x", "byhand"), "x")]), NOW)[0]).toContain("lock x");
});
