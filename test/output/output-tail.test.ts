import { expect, test } from "vitest";
import { OutputTail } from "../../src/output/output-keeper.ts";

test("the tail has at most 4 KiB, begins between characters and has no escape sequences", () => {
  const tail = new OutputTail();
  tail.take(Buffer.from("é".repeat(10_000)));
  tail.take(Buffer.from("\n\x1b[31mred\x1b[0m\r\n\x07end\n\n"));
  const text = tail.render() ?? "";
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  expect(text).toMatch(/^é+\nred\nend$/);
});

test("a tail without output is none", () => {
  const tail = new OutputTail();
  tail.take(Buffer.from("\n\r\n \x1b[0m"));
  expect(tail.render()).toBeUndefined();
});
