import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TerminalReport } from "../../../src/console/terminal/input-event.ts";
import { type QuerySubjects, TerminalQuery } from "../../../src/console/terminal/terminal-session.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ATTRIBUTES: TerminalReport = { kind: "report", of: "attributes" };
const reportGrey = (grey: number): TerminalReport => ({
  kind: "report",
  of: "background",
  red: grey,
  green: grey,
  blue: grey,
});

function createQuery(about: Partial<QuerySubjects> = {}) {
  const seen: string[] = [];
  const ports = {
    write: (text: string) => seen.push(JSON.stringify(text)),
    onChange: () => seen.push("changed"),
    onKeyboard: () => seen.push("keyboard"),
    onExpecting: (isExpected: boolean) => seen.push(isExpected ? "expects" : "expects nothing"),
  };
  const query = new TerminalQuery(ports, {
    about: { background: true, colours: false, keyboard: true, ...about },
  });
  query.ask();
  const asked = seen.splice(0);
  return { query, seen, asked };
}

describe("the background of the terminal", () => {
  it("is asked for together with what every terminal answers", () => {
    const askAbout = (background: boolean, keyboard: boolean) =>
      createQuery({ background, keyboard }).asked.slice(1);
    expect(askAbout(true, true)).toEqual([
      "expects",
      String.raw`"\u001b[?996n\u001b]11;?\u0007\u001b[?u\u001b[c"`,
    ]);
    expect(askAbout(false, true)).toEqual(["expects", String.raw`"\u001b[?u\u001b[c"`]);
  });

  it("is told once, and again only if it is another", () => {
    const { query, seen } = createQuery();
    for (const grey of [0.9, 0.95, 0.1]) query.takeReport(reportGrey(grey));
    expect([seen, query.isLight]).toEqual([["changed", "changed"], false]);
  });

  it("stays unknown where the terminal answers the other question only", async () => {
    const { query, seen } = createQuery();
    query.takeReport(ATTRIBUTES);
    expect([seen, query.isLight]).toEqual([["expects nothing"], undefined]);
    await query.end(); // waits for nothing
  });

  it("may come late", () => {
    const { query, seen } = createQuery();
    vi.advanceTimersByTime(2_000);
    expect(seen).toEqual(["expects nothing"]);
    query.takeReport(reportGrey(1));
    expect(query.isLight).toBe(true);
  });
});

it("learns once that the terminal has all colours, however late", () => {
  const { query, seen, asked } = createQuery({ background: false, colours: true, keyboard: false });
  expect(asked.at(-1)).toBe(
    String.raw`"\u001bP+q524742\u001b\\\u001b[48;2;1;2;3m\u001bP$qm\u001b\\\u001b[m\u001b[c"`,
  );
  query.takeReport(ATTRIBUTES);
  for (const _ of "ab") query.takeReport({ kind: "report", of: "colours" });
  expect([seen, query.hasAllColours]).toEqual([["expects nothing", "changed"], true]);
});

it("a change of the theme is taken whenever it comes, and told once", () => {
  const { query, seen } = createQuery();
  query.takeReport(ATTRIBUTES);
  for (const isLight of [true, true, false]) query.takeReport({ kind: "report", of: "scheme", isLight });
  expect([seen, query.isLight]).toEqual([["expects nothing", "changed", "changed"], false]);
});

describe("the end", () => {
  it("waits for an outstanding answer, which a shell would take for typed text", async () => {
    const { query, seen } = createQuery();
    const ended = query.end().then(() => seen.push("ended"));
    query.takeReport(reportGrey(0));
    query.takeReport(ATTRIBUTES);
    await ended;
    expect(seen).toEqual(["changed", "expects nothing", "ended"]);
  });

  it("waits no longer than a moment", async () => {
    const { query } = createQuery();
    const ended = query.end();
    await vi.advanceTimersByTimeAsync(300);
    await ended;
  });
});
