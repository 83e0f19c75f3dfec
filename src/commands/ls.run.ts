import { EXIT } from "../base/errors.ts";
import { passes } from "../model/filter.ts";
import { VIEWS, type ViewId } from "../model/tables/index.ts";
import type { AnyView } from "../model/tables/view.ts";
import { grid } from "./grid.ts";
import { type Reading, readRows } from "./ls-rows.ts";
import { columnsOf, ordered, type Wish, wishOf } from "./ls-wish.ts";
import { lookOf } from "./paint.ts";
import type { Call, Surroundings } from "./spec.ts";
import { jsonText } from "./table.ts";
import { type Desk, withStore } from "./with-store.ts";

export const execute = withStore((call, world, desk) => {
  const id = (call.args[0] ?? "overview") as ViewId;
  return VIEWS[id]((view) => list(call, world, desk, view));
});

async function list<R>(call: Call, world: Surroundings, desk: Desk, view: AnyView<R>): Promise<number> {
  const wish = wishOf(call, view);
  if (call.flags.watch) return await (await import("./ls-watch.ts")).watch(call, world, desk, view, wish);
  const reading = await readRows(desk, view, wish.all);
  if (call.flags.json) return await printJson(world, desk, view, reading, wish);
  const rows: R[] = [];
  for await (const row of reading.rows) if (passes(view, wish.filter, row)) rows.push(row);
  const isEmpty = rows.length === 0;
  const look = lookOf(world, { ascii: call.flags.ascii === true, wide: call.flags.wide === true });
  if (isEmpty && call.verbosity >= 0)
    world.err(`${wish.filter.length > 0 ? "Nothing passes the filter." : view.empty}\n`);
  else if (!isEmpty)
    world.out(
      `${grid(view.columns, ordered(view, rows, wish), look, columnsOf(view, wish, call)).join("\n")}\n`,
    );
  return EXIT.ok;
}

/** One document, written as it is read: its size does not matter, unless an order is asked for. */
async function printJson<R>(
  world: Surroundings,
  desk: Desk,
  view: AnyView<R>,
  { revision, rows }: Reading<R>,
  wish: Wish,
): Promise<number> {
  const head = jsonText({ version: 1, revision, prefix: desk.keys.prefix, view: view.id });
  let batch = `${head.slice(0, -1)},"rows":[`;
  let left = wish.limit;
  let separator = "\n";
  const streamed = wish.order === undefined && view.of === "queue" ? rows : inOrder(view, rows, wish);
  for await (const row of streamed) {
    if (!passes(view, wish.filter, row)) continue;
    if (left-- <= 0) break;
    batch += separator + jsonText(view.json(row));
    separator = ",\n";
    if (batch.length < BATCH) continue;
    if (!world.out(batch)) return EXIT.ok;
    batch = "";
  }
  world.out(`${batch}\n]}\n`);
  return EXIT.ok;
}

/** Characters written at once. */
const BATCH = 65_536;

async function* inOrder<R>(view: AnyView<R>, rows: AsyncIterable<R>, wish: Wish): AsyncGenerator<R> {
  const all: R[] = [];
  for await (const row of rows) if (passes(view, wish.filter, row)) all.push(row);
  yield* ordered(view, all, wish);
}
