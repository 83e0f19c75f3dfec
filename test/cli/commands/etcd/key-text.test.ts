import { describe, expect, test } from "vitest";
import {
  formatBytesLines,
  formatDifference,
  parseKey,
  parseNamedKey,
  quoteKey,
} from "../../../../src/cli/commands/etcd/key-text.ts";
import { encodeUtf8 } from "../../../../src/core/base/bytes.ts";

describe("a value", () => {
  test.each([
    ['{"a":1,"b":[true]}', ["{", '  "a": 1,', '  "b": [', "    true", "  ]", "}"]],
    ['{ "a" :\n 1 }', ["{", '  "a": 1', "}"]],
    ['{"a":"x  y"}', ["{", '  "a": "x  y"', "}"]],
    ['{"id":12345678901234567890}', ['{"id":12345678901234567890}']],
    ['[section]\n"a b" = 1', ["[section]", '"a b" = 1']],
    ["grün 🚦", ["grün 🚦"]],
    ["", [""]],
  ])("%j is text", (text, lines) => {
    expect(formatBytesLines(encodeUtf8(text))).toEqual(lines);
  });

  test.each(["\x1b]52;c;eA==\x07", "a\0b", "\xff\xfe", "a\x7f"])(
    "%j is shown as a dump, without a control character",
    (bytes) => {
      const lines = formatBytesLines(bytes);
      expect(lines[0]).toBe(`binary, ${bytes.length} bytes:`);
      expect(lines.join("")).toMatch(/^[ -~]*$/);
    },
  );

  test("a dump has sixteen bytes a line, and an end", () => {
    const lines = formatBytesLines(`${"\0".repeat(15)}A${"\xff".repeat(1_000)}`);
    expect(lines[1]).toBe(`00000000  ${"00 ".repeat(15)}41  ...............A`);
    expect(lines).toHaveLength(34);
    expect(lines.at(-1)).toBe("and 504 bytes more");
  });
});

test("a difference names lines that are new and lines that are gone", () => {
  expect(formatDifference('{"a":1,"b":2}', '{"a":1,"b":3}')).toEqual([
    "  {",
    '    "a": 1,',
    '-   "b": 2',
    '+   "b": 3',
    "  }",
  ]);
  expect(formatDifference(undefined, "x")).toEqual(["+ x"]);
  expect(formatDifference("x", undefined)).toEqual(["- x"]);
});

test("a difference that cannot be seen, or cannot be computed, is said to be so", () => {
  expect(formatDifference('{"a":1}', '{"a": 1}').at(-1)).toBe(
    "only bytes differ that are not shown here, such as white space",
  );
  expect(formatDifference("same", "same")).toEqual(["  same"]);
  const long = "line\n".repeat(600);
  expect(formatDifference("short", long)[0]).toBe("1 lines before, 601 after: too many to compare; after:");
});

describe("a key on a command line", () => {
  test("is text, or base64 where that is said", () => {
    expect(parseKey("grün", undefined)).toBe("gr\xc3\xbcn");
    expect(parseKey("/w==", true)).toBe("\xff");
    expect(() => parseKey("***", true)).toThrow('--base64: "***" is not base64');
    expect(() => parseNamedKey("", undefined)).toThrow("KEY must not be empty");
  });

  test.each([
    ["/app/a", undefined, "/app/a"],
    ["/a b", undefined, "'/a b'"],
    ["/\x1b", undefined, "$'/\\u001b'"],
    ["\xff", true, "/w=="],
    ["\0", undefined, "AA== (with --base64, and PREFIX in base64 too)"],
  ])("%j is written as a word that is read again", (key, isBase64, word) => {
    expect(quoteKey(key, isBase64)).toBe(word);
  });
});
