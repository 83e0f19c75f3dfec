import { expect, test } from "vitest";
import { decodeUtf8, encodeUtf8, toBinaryString } from "../../../src/core/base/bytes.ts";

test.each(["", "plain", "grün 🚦 信号", "\0\x01\u2028", "\ufeffwith a mark"])(
  "%j is the same text again",
  (text) => {
    expect(decodeUtf8(encodeUtf8(text))).toBe(text);
  },
);

test.each(["\xff", "a\xc3", "\xed\xa0\x80"])("%j is not UTF-8", (bytes) => {
  expect(decodeUtf8(bytes)).toBeUndefined();
});

test("many bytes are converted whole", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  const text = toBinaryString(bytes);
  expect(text).toHaveLength(100_000);
  expect(Uint8Array.from(text, (char) => char.charCodeAt(0))).toEqual(bytes);
});
