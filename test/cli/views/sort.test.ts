import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSortOrder, RowSorter, SortedRows, sortViewRows } from "../../../src/cli/views/sort.ts";

interface Row {
  id: number;
  weight: number;
}
const view = {
  columns: [
    {
      id: "n",
      title: "",
      priority: 1,
      formatCell: String,
      getSortValue: ({ weight }: Row) => weight,
    },
  ],
  getKey: ({ id }: Row) => String(id),
};
/** Forty rows of few weights. An update shows some of them. */
const pool = Array.from({ length: 40 }, (_, id): Row => ({ id, weight: (id * 7) % 5 }));
const someRows = fc.subarray(pool).chain((rows) => fc.shuffledSubarray(rows, { minLength: rows.length }));

test.each(["n", "-n", "unknown"])(
  "after any updates, the order is that of sorting everything: %s",
  (text) => {
    const order = parseSortOrder(text);
    fc.assert(
      fc.property(fc.array(someRows, { maxLength: 6 }), (updates) => {
        const sorted = new SortedRows(view, order);
        for (const rows of updates) expect(sorted.sort(rows)).toEqual(sortViewRows(view, rows, order));
      }),
    );
  },
);

test("a row that was away for an update comes back once", () => {
  const sorted = new SortedRows(view, parseSortOrder("n"));
  const away = pool.filter(({ id }) => id !== 3);
  for (const rows of [pool, away, away, pool]) sorted.sort(rows);
  expect(sorted.sort(pool)).toEqual(sortViewRows(view, pool, parseSortOrder("n")));
});

test.each([
  ["n", "in any parts, by weight"],
  ["-n", "the same, descending"],
  ["unknown", "as they are"],
] as const)("any ranks are those of sorting everything: %s, %s", (text, _) => {
  const order = parseSortOrder(text);
  const manyRows = fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: 4_000, maxLength: 9_000, size: "max" })
    .map((weights) => weights.map((weight, id): Row => ({ id, weight })));
  const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
  const cuts = fc.array(share, { maxLength: 3 });
  const cut = <T>(rows: readonly T[], at: readonly number[]) => {
    const ends = at.map((share) => Math.floor(share * rows.length)).sort((a, b) => a - b);
    return [0, ...ends].map((start, index) => rows.slice(start, ends[index]));
  };
  fc.assert(
    fc.property(manyRows, cuts, cuts, fc.tuple(share, share), (rows, ofParts, ofLists, shares) => {
      const parts = cut(rows, ofParts).map((part) => cut(part, ofLists));
      const [from, to] = shares.map((one) => Math.floor(one * (rows.length + 2))) as [number, number];
      const inOrder = parts.flatMap((lists) => sortViewRows(view, lists.flat(), order));
      expect([...new RowSorter(view, order).sortRanks(parts, from, to)]).toEqual(
        inOrder.slice(from, Math.max(from, to)),
      );
    }),
    { numRuns: 30 },
  );
});

test("equal rows are in the order of their keys", () => {
  const list = (text: string) =>
    sortViewRows(
      view,
      [31, 12, 21, 11].map((id) => ({ id, weight: id % 10 })),
      parseSortOrder(text),
    ).map(({ id }) => id);
  expect(list("n")).toEqual([11, 21, 31, 12]);
  expect(list("-n")).toEqual([12, 11, 21, 31]);
});
