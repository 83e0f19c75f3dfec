/** An input field: effects of keys and pastes, and the visible part. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  computeFieldWindow,
  createField,
  editField,
  findBoundaryFrom,
  insertText,
  MAX_FIELD_LENGTH,
  type TextField,
} from "../../../src/console/overlays/field.ts";
import type { InputEvent } from "../../../src/console/terminal/input-event.ts";
import { computeDisplayWidth } from "../../../src/core/base/display-width.ts";

const key = (chord: string): InputEvent =>
  chord.length === 1 ? { kind: "key", chord, text: chord } : { kind: "key", chord };
/** `ab|c`: the cursor is where the bar is. */
const read = (text: string): TextField => {
  const cursor = text.indexOf("|");
  return { text: text.replace("|", ""), cursor };
};
const shown = ({ text, cursor }: TextField) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;
const after = (start: string, ...chords: string[]) =>
  shown(chords.reduce((field, chord) => editField(field, key(chord)) ?? field, read(start)));

describe("keys in a field", () => {
  test.each([
    ["|", ["a", "b"], "ab|"],
    ["ab|c", ["left"], "a|bc"],
    ["ab|c", ["right"], "abc|"],
    ["|abc", ["left", "backspace"], "|abc"],
    ["abc|", ["right", "delete"], "abc|"],
    ["ab|c", ["home"], "|abc"],
    ["ab|c", ["ctrl+a", "ctrl+e"], "abc|"],
    ["ab|c", ["backspace"], "a|c"],
    ["ab|c", ["ctrl+h", "ctrl+d"], "a|"],
    ["a|bc", ["delete"], "a|c"],
    ["web1.example.com|", ["ctrl+left"], "web1.example.|com"],
    ["web1.example.com|", ["alt+b", "alt+b"], "web1.|example.com"],
    ["|web1.example", ["ctrl+right", "alt+f"], "web1.example|"],
    ["one two  |three", ["ctrl+w"], "one |three"],
    ["host:web1.example.com|", ["ctrl+w"], "|"],
    ["host:web1.example.com|", ["alt+backspace"], "host:web1.example.|"],
    ["one |two three", ["alt+d"], "one | three"],
    ["one |two", ["ctrl+u"], "|two"],
    ["one |two", ["ctrl+k"], "one |"],
    // one press for what one person takes for one letter
    ["e\u0301|x", ["left"], "|e\u0301x"],
    ["👨‍👩‍👧|", ["backspace"], "|"],
    ["|🇩🇪x", ["delete"], "|x"],
    ["日本|", ["left", "backspace"], "|本"],
  ])("%j with %j is %j", (start, chords, end) => {
    expect(after(start, ...chords)).toBe(end);
  });

  it("leaves to others what is no matter of a field", () => {
    for (const chord of ["enter", "tab", "shift+tab", "escape", "up", "down", "f1", "ctrl+p", "toString"])
      expect(editField(createField("x"), key(chord)), chord).toBeUndefined();
    const click = { kind: "mouse", action: "press", button: "left", column: 0, row: 0 } as const;
    expect(editField(createField("x"), click)).toBeUndefined();
  });
});

describe("what is pasted", () => {
  it("becomes one line, without what a terminal would take for a command", () => {
    expect(editField(read("a|b"), { kind: "paste", text: "1\n2\t3\x1b]52;c;eA==\x07\n" })).toEqual(
      read("a1 2 3|b"),
    );
  });

  it("is cut between letters where it does not fit", () => {
    const pasted = insertText(createField("x"), "👩‍🚒é日".repeat(MAX_FIELD_LENGTH));
    expect(pasted.text.length).toBeGreaterThan(MAX_FIELD_LENGTH - 10);
    expect(pasted.text.length).toBeLessThanOrEqual(MAX_FIELD_LENGTH);
    expect(pasted.text.isWellFormed()).toBe(true);
    expect(insertText(createField("a".repeat(MAX_FIELD_LENGTH)), "b").text).toHaveLength(MAX_FIELD_LENGTH);
  });
});

const CHORDS =
  "left right home end backspace delete ctrl+left ctrl+right ctrl+w ctrl+u ctrl+k alt+b alt+f alt+d".split(
    " ",
  );
const letters = fc.oneof(
  fc.constantFrom("a", " ", "é", "e\u0301", "\u0301", "日", "🇩🇪", "👩🏽", "\x1b[31m", "\n", "\u202e", "-"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const events = fc.array(
  fc.oneof(
    fc.constantFrom(...CHORDS).map(key),
    letters.map((text): InputEvent => ({ kind: "paste", text })),
    letters.map((text): InputEvent => ({ kind: "key", chord: text, text })),
  ),
  { maxLength: 40 },
);
const fields = events.map((all) =>
  all.reduce((field, event) => editField(field, event) ?? field, createField()),
);

describe("whatever is typed", () => {
  it("stays one line of whole letters, with the cursor between two", () => {
    fc.assert(
      fc.property(fields, ({ text, cursor }) => {
        expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
        expect(text.isWellFormed()).toBe(true);
        expect(findBoundaryFrom(text, cursor)).toBe(cursor);
      }),
    );
  });

  it("is in sight around the cursor, and takes no more than its room", () => {
    fc.assert(
      fc.property(fields, fc.integer({ min: 2, max: 30 }), (field, width) => {
        const { before, at, after: behind } = computeFieldWindow(field, width);
        expect(computeDisplayWidth(before + at + behind)).toBeLessThanOrEqual(
          Math.max(width, computeDisplayWidth(at)),
        );
        const { text, cursor } = field;
        expect(text.slice(0, cursor).endsWith(before)).toBe(true);
        expect(`${text} `.slice(cursor).startsWith((at + behind).trimEnd())).toBe(true);
        if (computeDisplayWidth(text) < width) expect((before + at + behind).trimEnd()).toBe(text.trimEnd());
      }),
    );
  });
});

describe("a field that is too long for its room", () => {
  const text = "abcdefghijklmnopqrstuvwxyz";
  it("shows where one goes, not only where one has been", () => {
    expect(computeFieldWindow({ text, cursor: 26 }, 10)).toEqual({ before: "rstuvwxyz", at: " ", after: "" });
    expect(computeFieldWindow({ text, cursor: 0 }, 10)).toEqual({ before: "", at: "a", after: "bcdefghij" });
    expect(computeFieldWindow({ text, cursor: 13 }, 10)).toEqual({ before: "ghijklm", at: "n", after: "op" });
  });

  it("never cuts a wide letter in two", () => {
    expect(computeFieldWindow({ text: "日本語日本語", cursor: 3 }, 8)).toEqual({
      before: "本語",
      at: "日",
      after: "本",
    });
  });
});
