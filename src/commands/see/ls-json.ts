import { passes } from "../../model/filter.ts";
import type { AnyView } from "../../model/tables/view.ts";
import type { Surroundings } from "../spec.ts";
import { jsonText } from "../table.ts";
import type { Desk } from "../with-store.ts";
import type { Reading } from "./ls-rows.ts";
import { ordered, type Wish } from "./ls-wish.ts";

/** Characters written at once. */
const BATCH = 65_536;

/**
 * One document, written as it is read: rows of queues come in the order of keys, and however many there are, they are never
 * all in memory. An order that is asked for, and views that need the whole picture, cost that.
 */
export async function printJson<R>(
  world: Surroundings,
  desk: Desk,
  view: AnyView<R>,
  { revision, rows }: Reading<R>,
  wish: Wish,
): Promise<void> {
  const head = jsonText({ version: 1, revision, prefix: desk.keys.prefix, view: view.id });
  let batch = `${head.slice(0, -1)},"rows":[`;
  let separator = "\n";
  const wanted =
    wish.order === undefined && view.of === "queue" ? first(rows, view, wish) : inOrder(rows, view, wish);
  for await (const row of wanted) {
    batch += separator + jsonText(view.json(row));
    separator = ",\n";
    if (batch.length < BATCH) continue;
    if (!world.out(batch)) return;
    batch = "";
  }
  world.out(`${batch}\n]}\n`);
}

/** As they come; when there are enough, no more are read. */
async function* first<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  { filter, limit }: Wish,
): AsyncGenerator<R> {
  let left = limit;
  for await (const row of rows) {
    if (!passes(view, filter, row)) continue;
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* inOrder<R>(rows: AsyncIterable<R>, view: AnyView<R>, wish: Wish): AsyncGenerator<R> {
  const all: R[] = [];
  for await (const row of rows) if (passes(view, wish.filter, row)) all.push(row);
  yield* ordered(view, all, wish);
}
