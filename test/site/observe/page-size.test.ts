import { expect, test } from "vitest";
import { PageSize } from "../../../src/site/observe/read.ts";

const createPage = (keys: number, characters: number) =>
  Array.from({ length: keys }, (_, at) => ({
    key: `k${at}`.padEnd(10),
    value: "x".repeat(characters - 10),
    createRevision: 1n,
    modRevision: 1n,
    session: 0n,
  }));
const page = createPage(100, 1_000);

test.each([
  // case, times of the pages so far in ms, keys of 1,000 characters in the next page
  ["as large as the first", [], 500],
  ["larger after a quick page", [149], 1_000],
  ["at most four times as large", Array(10).fill(20), 2_000],
  ["the same after a page that took its time", [150, 400], 500],
  ["smaller after a slow page", [401], 250],
  ["at least a fifth", Array(10).fill(5_000), 100],
  ["larger again when the connection is quick again", [5_000, 5_000, 5_000, 20, 20], 400],
])("a page is %s", (_, times, expected) => {
  const size = new PageSize();
  for (const took of times) size.adapt(took);
  expect(size.compute(page)).toBe(expected);
});

test("small keys have pages of 10,000, and one that is larger than a page has a page of its own", () => {
  const size = new PageSize();
  expect(size.compute(createPage(100, 11))).toBe(10_000);
  expect(size.compute(createPage(1, 600_000))).toBe(1);
});
