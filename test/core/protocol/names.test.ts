import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, usableName } from "../../../fixtures/protocol/samples.ts";
import { UsageError } from "../../../src/core/base/errors.ts";
import { findNameFault } from "../../../src/core/base/text.ts";
import { decodeName, encodeName, validateName } from "../../../src/core/protocol/names.ts";

describe("a name in a key", () => {
  test.each([
    ["invoices", "invoices"],
    ["web1.example.com_cpu", "web1.example.com_cpu"],
    ["A-Z:a@z", "A-Z:a@z"],
    ["..", ".."],
    ["a/b", "a%2Fb"],
    ["/", "%2F"],
    ["%2F", "%252F"],
    ["a b", "a%20b"],
    ["~", "%7E"],
    ["é", "%C3%A9"],
    ["e\u0301", "e%CC%81"],
    ["👍", "%F0%9F%91%8D"],
    ["\ufeffa", "%EF%BB%BFa"],
  ])("%j is written %s, and read back", (name, segment) => {
    expect(encodeName(name)).toBe(segment);
    expect(decodeName(segment)).toBe(name);
  });

  test("any usable name is read back, by any reader of percent signs, and holds no slash", () => {
    fc.assert(
      fc.property(usableName, (name) => {
        const segment = encodeName(name);
        expect(segment).toMatch(/^[A-Za-z0-9._:@%-]+$/);
        expect(decodeName(segment)).toBe(name);
        expect(decodeURIComponent(segment)).toBe(name);
      }),
      { numRuns: 500 },
    );
  });

  test("two names never share a segment", () => {
    fc.assert(
      fc.property(usableName, usableName, (one, other) => {
        expect(encodeName(one) === encodeName(other)).toBe(one === other);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a segment that we would not write", () => {
  test.each([
    ["", "empty"],
    ["a%2fb", "hex digits in lower case"],
    ["%61", "a plain character escaped"],
    ["a b", "a character not escaped"],
    ["a/b", "a slash not escaped"],
    ["é", "a raw byte"],
    ["ŁA", "a character that is no byte"],
    ["%4", "half an escape"],
    ["%", "nothing escaped"],
    ["%GG", "no hex digits"],
    ["%C0%AF", "a slash in two bytes"],
    ["%C3", "half a character"],
    ["%ED%A0%80", "half a surrogate pair"],
    ["%00", "NUL"],
    ["a%1B", "an escape character"],
    ["%C2%9B", "a control character of two bytes"],
    ["a\n", "a line break"],
    ["x".repeat(513), "too long"],
  ])("%j means nothing: %s", (segment) => {
    expect(decodeName(segment)).toBeUndefined();
  });

  test("whatever the bytes, they are a usable name exactly as it is written, or nothing", () => {
    const pieces = fc.array(
      fc.constantFrom("a", "%", "2F", "2f", "C3", "A9", "é", "/", "\0", "%25", "%E2%82%AC"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          bytes,
          pieces.map((all) => all.join("")),
        ),
        (segment) => {
          const name = decodeName(segment);
          if (name === undefined) return;
          expect(findNameFault(name)).toBeUndefined();
          expect(encodeName(name)).toBe(segment);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("a name taken from outside", () => {
  test.each([
    ["a letter", "a"],
    ["dots", ".."],
    ["a slash", "a/b"],
    ["a percent sign", "%"],
    ["512 bytes", "x".repeat(512)],
    ["512 bytes in 256 letters", "é".repeat(256)],
    ["512 bytes in 128 emoji", "👍".repeat(128)],
  ])("may be %s", (_, name) => {
    expect(validateName("lock", name)).toBe(name);
    expect(decodeName(encodeName(name))).toBe(name);
  });

  test.each([
    ["", "it is empty"],
    ["a\0b", "it contains a control character"],
    ["a\x7f", "it contains a control character"],
    ["a\x85", "it contains a control character"],
    ["x".repeat(513), "it has 513 bytes; at most 512 are allowed"],
    [`x${"é".repeat(256)}`, "it has 513 bytes; at most 512 are allowed"],
    ["👍".repeat(129), "it has 516 bytes; at most 512 are allowed"],
  ])("%#: is refused with its reason, and a key that holds it all the same means nothing", (name, why) => {
    expect(() => validateName("lock", name)).toThrow(UsageError);
    expect(() => validateName("lock", name)).toThrow(why);
    expect(decodeName(encodeName(name))).toBeUndefined();
  });

  test("is refused when it is not Unicode, and the message can be shown", () => {
    const lone = "\ud800";
    expect(() => validateName("lock", lone)).toThrow(
      'lock name "\\ud800" cannot be used: it is not valid Unicode',
    );
  });
});
