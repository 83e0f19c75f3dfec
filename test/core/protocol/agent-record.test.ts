/** The records of agents: what is written can be read, and what others write does no harm. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatAgentReport,
  formatAgentSession,
  parseAgentReport,
  parseAgentSession,
} from "../../../src/core/protocol/agent-record.ts";

const session = { agent: "a".repeat(16), pid: 4711, version: "1.2.3" };
const report = { user: "root", since: 1_700_000_000_000, served: 12, declined: { settings: 3, files: 1 } };

describe("the owner of a session", () => {
  test("is read as it was written, also with fields of a later version", () => {
    expect(parseAgentSession(formatAgentSession(session))).toEqual(session);
    expect(parseAgentSession(JSON.stringify({ v: 1, ...session, later: [] }))).toEqual(session);
  });

  test.each(["", "null", "[]", '{"v":1}', JSON.stringify({ ...session, pid: "1" })])("is not %s", (text) => {
    expect(parseAgentSession(text)).toBeUndefined();
  });
});

describe("a report", () => {
  test("is read as it was written", () => {
    expect(parseAgentReport(formatAgentReport(report))).toEqual(report);
  });

  test("has the same text for any order of declined calls", () => {
    const other = { ...report, declined: { files: 1, settings: 3 } };
    expect(formatAgentReport(other)).toBe(formatAgentReport(report));
  });

  test.each(["", "null", '{"v":1}', JSON.stringify({ ...report, served: -1 })])("is not %s", (text) => {
    expect(parseAgentReport(text)).toBeUndefined();
  });

  test("has a limited set of reasons, each a word, for any input", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (declined) => {
        const read = parseAgentReport(JSON.stringify({ ...report, declined }));
        const reasons = Object.keys(read?.declined ?? {});
        expect(reasons.every((reason) => /^[a-z-]{1,32}$/.test(reason))).toBe(true);
      }),
    );
    const many = Object.fromEntries(
      Array.from({ length: 99 }, (_, at) => [`r${"x".repeat(at % 30)}-${"y".repeat(at)}`, 1]),
    );
    const read = parseAgentReport(JSON.stringify({ ...report, declined: many }));
    expect(Object.keys(read?.declined ?? {}).length).toBeLessThanOrEqual(20);
  });
});
