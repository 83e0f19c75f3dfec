import { expect, test } from "vitest";
import {
  decodeArgument,
  decodeUtf8,
  encodeArgument,
  encodeUtf8,
  toBinaryString,
} from "../../../src/core/base/bytes.ts";

test.each(["", "plain", "grün 🚦 信号", "\0\x01\u2028", "\ufeffwith a mark"])(
  "%j is the same text again",
  (text) => {
    expect(decodeUtf8(encodeUtf8(text))).toBe(text);
  },
);

test.each(["\xff", "a\xc3", "\xed\xa0\x80"])("%j is not UTF-8", (bytes) => {
  expect(decodeUtf8(bytes)).toBeUndefined();
});

test.each(["", "plain", "gr\xc3\xbcn", "\xff", "a\xc3", "\xed\xa0\x80", "\x01\x80\xff\xc3\xa9"])(
  "an argument of the bytes %j becomes these bytes again",
  (bytes) => {
    expect(toBinaryString(encodeArgument(decodeArgument(bytes)))).toBe(bytes);
    expect(decodeArgument(bytes).isWellFormed()).toBe(decodeUtf8(bytes) !== undefined);
  },
);

test("many bytes are converted whole", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  const text = toBinaryString(bytes);
  expect(text).toHaveLength(100_000);
  expect(Uint8Array.from(text, (char) => char.charCodeAt(0))).toEqual(bytes);
});
