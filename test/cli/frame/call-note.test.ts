import { describe, expect, test } from "vitest";
import { parseCallNote, renderCallNote } from "../../../src/cli/frame/call-note.ts";
import { CallAttempts } from "../../../src/core/run/request.ts";

const CALL = new CallAttempts("ca11ca11ca11ca11", 2, 1_600_000_000_000);
const attempt = {
  run: "0123456789abcdef",
  session: 0x1fn,
  ttl: 30,
  number: 2,
  enqueuedAt: 1_700_000_000_000,
};

test("a note is read as it was written", () => {
  const { number: _, ...resumed } = attempt;
  const { id, since } = CALL;
  expect(parseCallNote(renderCallNote(CALL, attempt))).toEqual({ id, since, number: 2, attempt: resumed });
});

test("a note of a run that has made no attempt is read as it was written", () => {
  const waiting = new CallAttempts(CALL.id, 0, CALL.since);
  expect(parseCallNote(renderCallNote(waiting))).toEqual({ id: CALL.id, since: CALL.since, number: 0 });
});

test("a note of an earlier version says when its last attempt began", () => {
  const { since: _, ...note } = JSON.parse(renderCallNote(CALL, attempt));
  expect(parseCallNote(JSON.stringify(note))?.since).toBe(attempt.enqueuedAt);
});

describe("a note is refused", () => {
  const valid = JSON.parse(renderCallNote(CALL, attempt));
  test.each<[string, unknown]>([
    ["of another version", { ...valid, v: 2 }],
    ["with a path for a run", { ...valid, run: "../../0123456789" }],
    ["without a run", { ...valid, run: undefined }],
    ["with an id of the wrong form", { ...valid, id: "x" }],
    ["with a session that is none", { ...valid, session: "0" }],
    ["with a time to live that is none", { ...valid, ttl: 0 }],
    ["with a fraction of an attempt", { ...valid, number: 1.5 }],
    ["without a time", { ...valid, enqueuedAt: null }],
    ["with a start that is not a number", { ...valid, since: "1" }],
    ["with a run that no attempt has made", { ...valid, number: 0 }],
    ["that is a list", []],
    ["that is null", null],
  ])("%s", (_, note) => {
    expect(parseCallNote(JSON.stringify(note))).toBeUndefined();
  });

  test.each([[""], [undefined], ["{"]])("%j", (text) => {
    expect(parseCallNote(text)).toBeUndefined();
  });
});
