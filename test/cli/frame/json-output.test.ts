import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generateText } from "../../../fixtures/protocol/samples.ts";
import { formatJsonDocument } from "../../../src/cli/frame/json-output.ts";

describe("a document for programs", () => {
  test("is one line, with its version, and numbers of any size", () => {
    expect(formatJsonDocument({ rows: [{ at: 2n ** 60n, on: undefined }] })).toBe(
      '{"version":1,"rows":[{"at":"1152921504606846976"}]}\n',
    );
  });

  test("is read back as it was, and holds nothing that a terminal acts on", () => {
    fc.assert(
      fc.property(
        fc.oneof(generateText(), fc.constantFrom("\x9b31m", "\u202e", "\x7f", "\u{e0041}")),
        (host) => {
          const text = formatJsonDocument({ host });
          expect(text.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
          expect(text.endsWith("\n")).toBe(true);
          expect(JSON.parse(text)).toEqual({ version: 1, host });
        },
      ),
    );
  });
});
