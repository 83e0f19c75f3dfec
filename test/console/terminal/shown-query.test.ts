/** Dialogs act only on what the terminal has shown: its answers say what that is. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ShownQuery } from "../../../src/console/terminal/terminal-session.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createQuery() {
  const written: string[] = [];
  const ran: string[] = [];
  const query = new ShownQuery((text) => written.push(text));
  const add = (name: string) => query.add(() => ran.push(name));
  return { query, written, ran, add };
}

it("asks once at the start, then only for an action", () => {
  const { query, add } = createQuery();
  expect(query.isWanted).toBe(true);
  query.ask();
  expect([query.isWanted, query.openQuestions]).toEqual([false, 1]);
  query.takeAnswer();
  expect(query.isWanted).toBe(false);
  add("read");
  expect(query.isWanted).toBe(true);
});

it("runs an action after the answer to the question that followed it, and not in the same turn", () => {
  const { query, ran, add } = createQuery();
  query.ask();
  add("read");
  query.ask();
  query.takeAnswer(); // to the question before the dialog
  vi.runAllTimers();
  expect(ran).toEqual([]);
  query.takeAnswer();
  expect(ran).toEqual([]);
  vi.runAllTimers();
  expect(ran).toEqual(["read"]);
});

it("waits for a terminal that has answered before and is stopped, for however long", () => {
  const { query, ran, add } = createQuery();
  query.ask();
  query.takeAnswer();
  add("read");
  query.ask();
  vi.advanceTimersByTime(3_600_000);
  expect(ran).toEqual([]);
  query.takeAnswer();
  vi.runAllTimers();
  expect(ran).toEqual(["read"]);
});

it("does not wait for a terminal that never answers, once a slow line would have shown it", () => {
  const { query, written, ran, add } = createQuery();
  add("first");
  query.ask();
  vi.advanceTimersByTime(9_999);
  expect(ran).toEqual([]);
  vi.runAllTimers();
  expect([ran, query.openQuestions]).toEqual([["first"], 0]);
  add("second");
  query.ask();
  vi.runAllTimers();
  expect([ran, written.length]).toEqual([["first", "second"], 1]);
});

it("asks again when the terminal comes back from another program", () => {
  const { query, ran, add } = createQuery();
  add("read");
  query.ask();
  query.forget();
  expect([query.openQuestions, query.isWanted]).toEqual([0, true]);
  query.ask();
  query.takeAnswer();
  vi.runAllTimers();
  expect(ran).toEqual(["read"]);
});
