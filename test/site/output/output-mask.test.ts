import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { buildSecretMasks, OutputMask, parseMasks } from "../../../src/site/output/output-mask.ts";

/** What is passed on when the text arrives in pieces of this size. */
function maskInPieces(masks: RegExp[], bytes: Buffer, size: number, removed?: RegExp): Buffer {
  const mask = new OutputMask(masks, removed);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(mask.take(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, mask.end()]);
}

test("a secret is replaced, also if its bytes arrive in pieces", () => {
  const text = Buffer.from("token=hunter2 ok\nnaïve a.b token=x\nlast token=hunter2");
  const masks = [...parseMasks(["token=\\w+"]), ...buildSecretMasks(["a.b"])];
  for (const size of [1, 3, 7, 1000])
    expect(maskInPieces(masks, text, size).toString()).toBe("*** ok\nnaïve *** ***\nlast ***");
});

test("a secret mask takes its text literally", () => {
  const masks = buildSecretMasks(["p$(w)/-|x"]);
  expect(maskInPieces(masks, Buffer.from("p$(w)/-|x pw\n"), 4).toString()).toBe("*** pw\n");
});

test("binary output stays what it is, with and without masks", () => {
  const bytes = randomBytes(100_000);
  for (const masks of [[], parseMasks(["no such text in here"])])
    expect(maskInPieces(masks, bytes, 4_096).equals(bytes)).toBe(true);
});

test("a line without an end does not grow without limit", () => {
  const mask = new OutputMask(parseMasks(["secret"]));
  let passed = 0;
  for (let count = 0; count < 100; count += 1) passed += mask.take(Buffer.alloc(1_000, "x")).length;
  expect(passed).toBeGreaterThan(80_000);
});

test("what is not output is removed", () => {
  expect(maskInPieces([], Buffer.from("a\n\x1erun {}\n"), 2, /\x1erun [^\n]*\n?/g).toString()).toBe("a\n");
});

test.each(["(", "x*", ""])("the mask %j is refused", (pattern) => {
  expect(() => parseMasks([pattern])).toThrow("--mask");
});
