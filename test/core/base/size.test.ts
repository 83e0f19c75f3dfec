import { expect, test } from "vitest";
import { formatSize, parseSize } from "../../../src/core/base/size.ts";

test.each([
  ["0", 0],
  ["100", 100],
  ["512K", 524_288],
  ["1M", 1_048_576],
  ["2GiB", 2_147_483_648],
])("%s is a size", (text, value) => {
  expect(parseSize(text)).toEqual({ value });
  expect(parseSize(formatSize(value))).toEqual({ value });
});

test.each(["", "K", "-1", "1.5M", "1T", "65G", "1 M"])("%j is not a size", (text) => {
  expect(parseSize(text)).toHaveProperty("fault");
});
