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

it("asks at the start, to find out whether the terminal answers, and then only for an action", () => {
  const { query, add } = createQuery();
  query.ask();
  expect([query.isWanted, query.missingAnswers]).toEqual([false, 1]);
  query.takeAnswer();
  expect([query.isWanted, query.missingAnswers]).toEqual([false, 0]);
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
  expect([ran, query.missingAnswers]).toEqual([["first"], 0]);
  add("second");
  query.ask();
  vi.runAllTimers();
  expect([ran, written.length]).toEqual([["first", "second"], 1]);
});

it("takes no late answer for that to a later question, after it has waited long enough", () => {
  const { query, ran, add } = createQuery();
  query.ask();
  query.ask();
  vi.advanceTimersByTime(10_000);
  query.takeAnswer(); // the terminal was only slow
  add("read");
  query.ask();
  query.takeAnswer(); // to the second question
  vi.runAllTimers();
  expect(ran).toEqual([]);
  query.takeAnswer();
  vi.runAllTimers();
  expect(ran).toEqual(["read"]);
});

it("asks again when the terminal comes back from another program", () => {
  const { query, ran, add } = createQuery();
  add("read");
  query.ask();
  query.forget(1);
  expect([query.missingAnswers, query.isWanted]).toEqual([0, true]);
  query.ask();
  query.takeAnswer();
  vi.runAllTimers();
  expect(ran).toEqual(["read"]);
});

it("takes no answer that comes after another program for that to a later question, nor waits for one that it got", () => {
  for (const strays of [0, 1, 2]) {
    const { query, written, ran, add } = createQuery();
    query.ask();
    query.takeAnswer();
    query.ask();
    query.ask();
    query.forget(0);
    add("read");
    const before = written.join("").length;
    query.ask();
    const own = (written.join("").length - before) / "\x1b[5n".length;
    for (let answer = 0; answer < strays; answer += 1) query.takeAnswer();
    vi.runAllTimers();
    expect(ran).toEqual([]);
    for (let answer = 0; answer < own; answer += 1) query.takeAnswer();
    vi.runAllTimers();
    expect(ran).toEqual(["read"]);
    add("next");
    query.ask();
    vi.runAllTimers();
    expect([ran, query.missingAnswers]).toEqual([["read"], own - strays]);
  }
});
