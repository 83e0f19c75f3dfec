import { createSnapshot, NOW } from "../../../fixtures/state/sample-snapshots.ts";
import type { Detail } from "../../../src/cli/views/detail.ts";
import { createRowTest, parseRowFilter } from "../../../src/cli/views/filter.ts";
import { parseSortOrder, sortViewRows } from "../../../src/cli/views/sort.ts";
import type { AnyView } from "../../../src/cli/views/view.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";

/** Builds the rows of a view in its order, the texts of a column, of all cells, and the keys of the rows that pass a filter. */
export function showView<R>(view: AnyView<R>, kvs: readonly KeyValue[]) {
  const snapshot = createSnapshot(kvs);
  const context = buildViewContext(snapshot, NOW);
  const built =
    view.of === "snapshot"
      ? view.buildRows(snapshot, context)
      : [...snapshot.queues.values()].flatMap((queue) => view.buildRows(queue, context));
  const rows = sortViewRows(view, built, parseSortOrder(view.sort));
  const cells = rows.map(
    (row): Record<string, string> =>
      Object.fromEntries(view.columns.map(({ id, formatCell }) => [id, formatCell(row, NOW)])),
  );
  return {
    rows,
    cells,
    json: rows.map((row) => view.json.toJson(row)),
    column: (id: string) => cells.map((row) => row[id]),
    passing: (filter: string) =>
      rows
        .filter((row) => createRowTest(view, parseRowFilter(filter, view))(row, NOW))
        .map((row) => view.getKey(row)),
  };
}

/** The facts of a detail by their labels. */
export const listFacts = (detail: Detail | undefined) =>
  Object.fromEntries(detail?.facts.map(({ label, value }) => [label, value]) ?? []);

/** The rows of cells of the first section of a detail whose title begins so, or its lines. */
export function readSection(
  detail: Detail | undefined,
  title: string,
): readonly (string | readonly string[])[] | undefined {
  const found = detail?.sections.find((section) => section.title.startsWith(title));
  return found?.kind === "table" ? found.rows.map((row) => row.map(({ text }) => text)) : found?.lines;
}
