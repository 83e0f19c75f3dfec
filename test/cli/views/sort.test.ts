import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSortOrder, SortedRows, sortViewRows } from "../../../src/cli/views/sort.ts";

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
