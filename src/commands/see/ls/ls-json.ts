import { isFilterMatch } from "../../../model/views/filter.ts";
import type { AnyView, ViewContext } from "../../../model/views/view.ts";
import { formatJsonText } from "../../json-output.ts";
import type { CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { checkFilterWork, type ListOptions, sortAndLimitRows } from "./ls-options.ts";
import type { ViewRows } from "./ls-rows.ts";

/** Characters per write. */
const BATCH = 65_536;

/**
 * Writes one JSON document while the rows are read. Rows of queues come in the order of keys and are never all in
 * memory. If an order is requested, or the view needs the whole snapshot, all rows are read first.
 */
export async function printRowsJson<R>(
  io: CommandIo,
  context: CommandContext,
  view: AnyView<R>,
  { revision, rows, scene }: ViewRows<R>,
  options: ListOptions,
): Promise<void> {
  const head = formatJsonText({ version: 1, revision, prefix: context.keys.prefix, view: view.id });
  let batch = `${head.slice(0, -1)},"rows":[`;
  let separator = "\n";
  const wanted =
    options.order === undefined && view.of === "queue"
      ? takeFirst(rows, view, options, scene)
      : sortRows(rows, view, options, scene);
  for await (const row of wanted) {
    batch += separator + formatJsonText(view.toJson(row));
    separator = ",\n";
    if (batch.length < BATCH) continue;
    if (!io.writeOutput(batch)) return;
    batch = "";
  }
  checkFilterWork(options);
  io.writeOutput(`${batch}\n]}\n`);
}

/** Yields rows as they are read, and stops reading at the limit. */
async function* takeFirst<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  { filter, limit }: ListOptions,
  { wall }: ViewContext,
): AsyncGenerator<R> {
  let left = limit;
  for await (const row of rows) {
    if (!isFilterMatch(view, filter, row, { wall })) continue;
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* sortRows<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  options: ListOptions,
  { wall }: ViewContext,
): AsyncGenerator<R> {
  const all: R[] = [];
  for await (const row of rows) if (isFilterMatch(view, options.filter, row, { wall })) all.push(row);
  yield* sortAndLimitRows(view, all, options);
}
