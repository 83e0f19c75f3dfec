import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureProcessorMs } from "../../../fixtures/steady.ts";
import {
  clean,
  cleanInput,
  findMacroFault,
  findNameFault,
  findNearest,
  quoteText,
} from "../../../src/core/base/text.ts";
import { hostile } from "./hostile-text.ts";

const HARMFUL = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

describe("clean", () => {
  test.each([
    ["plain text", "plain text"],
    ["\x1b[31mred\x1b[0m", "red"],
    ["\x9b31mred", "red"],
    ["\x1b]0;title\x07shown", "shown"],
    ["\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1bPq#0\x1b\\sixel", "sixel"],
    ["\x1b(Bcharset \x1b7saved", "charset saved"],
    ["\x1b]0;never closed", "0;never closed"],
    ["\x1b\x1b[0m[31m", "[31m"],
    ["two\r\nlines\tand a tab", "two lines and a tab"],
    ["nul\0bell\x07del\x7f", "nulbelldel"],
    ["abc\u202edcba", "abc\\u{202e}dcba"],
    ["\u2066isolated\u2069", "\\u{2066}isolated\\u{2069}"],
    ["marks\u200e\u200f\u061c", "marks\\u{200e}\\u{200f}\\u{061c}"],
    ["\x1b]0;\u202etitle\x07\x1b[\u202e31m", "\\u{202e}31m"],
    ["pay\u200bpal\ufeff", "paypal"],
    ["lone \ud800 surrogate", "lone \ufffd surrogate"],
    ["tag\u{e0041}s", "tags"],
    ["日本 👍 é", "日本 👍 é"],
  ])("%j is shown as %j", (text, shown) => {
    expect(clean(text)).toBe(shown);
  });

  test("names that only a bidi control tells apart look different", () => {
    expect(clean("cod\u202esafe")).not.toBe(clean("codsafe"));
    expect(cleanInput("cod\u202esafe\n\u200e")).toBe("codsafe ");
  });

  test("accents do not pile up", () => {
    expect(clean(`z${"\u0300".repeat(100)}`)).toBe(`z${"\u0300".repeat(4)}`);
  });

  test("whatever comes in, nothing harmful comes out", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(clean(text)).not.toMatch(HARMFUL);
        expect(cleanInput(text)).not.toMatch(HARMFUL);
        expect(clean(text).isWellFormed()).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test("cleaning twice changes nothing more", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 30 }), (text, longest) => {
        expect(clean(clean(text))).toBe(clean(text));
        expect(clean(clean(text, longest), longest)).toBe(clean(text, longest));
      }),
      { numRuns: 1_000 },
    );
  });

  test("keeps to the length it is given", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 30 }), (text, longest) => {
        expect([...clean(text, longest)].length).toBeLessThanOrEqual(longest);
        expect(clean(text, longest).isWellFormed()).toBe(true);
      }),
    );
    expect(clean("abcdef", 4)).toBe("abc…");
    expect(clean("abcd", 4)).toBe("abcd");
    expect(clean("👍👍👍", 3)).toBe("👍👍👍");
    expect(clean("👍👍👍", 2)).toBe("👍…");
  });

  test.each(["\x1b]", "\x9d", "\x1b[", "\x1b[0", "\u0300", "\n", "\u202e"])(
    "1 MB of %j takes linear time",
    (piece) => {
      expect(measureProcessorMs(() => clean(piece.repeat(1_000_000 / piece.length)))).toBeLessThan(1_000);
    },
  );
});

describe("quoted", () => {
  test.each([
    ["web1", '"web1"'],
    ['say "hi"\n', '"say \\"hi\\"\\n"'],
    ["\x1b[31m\x9b", '"\\u001b[31m\\u009b"'],
    ["a\u202eb\u{e0041}", '"a\\u202eb\\udb40\\udc41"'],
    ["\ud800", '"\\ud800"'],
  ])("%j becomes %s", (text, shown) => {
    expect(quoteText(text)).toBe(shown);
  });

  test("cuts what is long, and shows nothing raw", () => {
    expect(quoteText("x".repeat(10_000))).toBe(`"${"x".repeat(57)}..."`);
    fc.assert(fc.property(hostile, (text) => void expect(quoteText(text)).not.toMatch(HARMFUL)));
  });

  test("what is short can be read back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        fc.pre(text.length <= 60);
        expect(JSON.parse(quoteText(text))).toBe(text);
      }),
    );
  });
});

describe("nearest", () => {
  const known = ["ttl", "timeout", "terminationTimeout", "group", "--cert"];
  test.each([
    ["tll", "ttl"],
    ["TTL", "ttl"],
    ["terminationTimout", "terminationTimeout"],
    ["grop", "group"],
    ["ttyl", "ttl"],
    ["gruop", "group"],
    ["timoeut", "timeout"],
    ["endpoint", undefined],
    ["", undefined],
    ["--port", undefined],
  ])("%s: %s", (word, meant) => {
    expect(findNearest(word, known)).toBe(meant);
  });

  test("does not compare what is much too long", () => {
    expect(findNearest("x".repeat(10_000), known)).toBeUndefined();
  });

  test("is the full name of a host whose first label is given, unless there are several", () => {
    const hosts = new Set(["web1.example.com", "web2.example.com", "web2.other.com"]);
    expect(findNearest("web1", hosts.keys())).toBe("web1.example.com");
    expect(findNearest("web2", hosts.keys())).toBeUndefined();
    expect(findNearest("web1.example.con", hosts.keys())).toBe("web1.example.com");
  });
});

describe("names", () => {
  test.each(["db", "a/b", "..", "naïve", "with space", "x".repeat(512), "é".repeat(256)])(
    "%j may be used",
    (name) => {
      expect(findNameFault(name)).toBeUndefined();
    },
  );

  test.each([
    ["", "empty"],
    ["a\nb", "control"],
    ["a\0", "control"],
    ["\x9b", "control"],
    ["\ud800", "Unicode"],
  ])("%j may not", (name, why) => {
    expect(findNameFault(name)).toContain(why);
  });

  test.each([
    ["DISKS", 4],
    ["RACK_2", "r12"],
    ["NEGATIVE", -1],
  ])("macro %s = %j is possible", (name, value) => {
    expect(findMacroFault(name, value)).toBeUndefined();
  });

  test.each([
    ["CPU", 4, "built in"],
    ["FQDN", "x", "built in"],
    ["disks", 4, "capital letters"],
    ["2X", 4, "capital letters"],
    ["A-B", 4, "capital letters"],
    ["", 4, "capital letters"],
    ["X", Number.NaN, "finite"],
    ["X", true, "neither"],
    ["X", null, "neither"],
    ["X", "a\nb", "control"],
    ["X", "", "empty"],
  ])("macro %s = %j is not", (name, value, why) => {
    expect(findMacroFault(name, value)).toContain(why);
  });
});
