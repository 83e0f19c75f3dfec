import { expect, test } from "vitest";
import { realRandom } from "../../../src/core/process/random.ts";

test("ids of many sizes never repeat, also when the pool is filled again", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 3_000; i++)
    seen.add(Buffer.from(realRandom.generateBytes(8 + (i % 9))).toString("hex"));
  expect(seen.size).toBe(3_000);
});

test("bytes that were handed out do not change later", () => {
  const bytes = realRandom.generateBytes(16);
  const before = Buffer.from(bytes).toString("hex");
  for (let i = 0; i < 1_000; i++) realRandom.generateBytes(16);
  expect(Buffer.from(bytes).toString("hex")).toBe(before);
});

test("fractions are in [0, 1)", () => {
  const all = Array.from({ length: 1_000 }, () => realRandom.generateFraction());
  expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...all)).toBeLessThan(1);
  expect(new Set(all).size).toBe(1_000);
});
