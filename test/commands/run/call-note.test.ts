import { describe, expect, test } from "vitest";
import { parseCallNote, renderCallNote } from "../../../src/commands/run/call-note.ts";

const ID = "ca11ca11ca11ca11";
const attempt = {
  run: "0123456789abcdef",
  session: 0x1fn,
  ttl: 30,
  number: 2,
  enqueuedAt: 1_700_000_000_000,
};

test("a note is read as it was written", () => {
  const { session: _, ...rest } = attempt;
  expect(parseCallNote(renderCallNote(ID, attempt))).toMatchObject({ ...rest, id: ID, session: "1f" });
});

describe("a note is refused", () => {
  const valid = JSON.parse(renderCallNote(ID, attempt));
  test.each<[string, unknown]>([
    ["of another version", { ...valid, v: 2 }],
    ["with a path for a run", { ...valid, run: "../../0123456789" }],
    ["without a run", { ...valid, run: undefined }],
    ["with an id that is none", { ...valid, id: "x" }],
    ["with a session that is none", { ...valid, session: "0" }],
    ["with a time to live that is none", { ...valid, ttl: 0 }],
    ["with a fraction of an attempt", { ...valid, number: 1.5 }],
    ["without a time", { ...valid, enqueuedAt: null }],
    ["that is a list", []],
    ["that is null", null],
  ])("%s", (_, note) => {
    expect(parseCallNote(JSON.stringify(note))).toBeUndefined();
  });

  test.each([[""], [undefined], ["{"]])("%j", (text) => {
    expect(parseCallNote(text)).toBeUndefined();
  });
});
