import { type ExportParts, openExportOverlay } from "../export/export-overlay.ts";
import type { DataAccess, DetailAccess, StateAccess, TableAccess } from "../parts/parts.ts";

type ExportShownParts = DataAccess & DetailAccess & ExportParts & StateAccess & TableAccess;

/** Exports what the focused pane shows: the detail, or all rows of the table as filtered, sorted and chosen. */
export function exportShown(app: ExportShownParts): void {
  if (!app.liveView.hasRead)
    return app.showToast("nothing was read yet, so there is nothing to export", "problem");
  const { focus, tab } = app.state;
  const detail = focus === "detail" ? app.getDetail() : undefined;
  if (detail !== undefined) {
    const name = app.table.getSubjectAt(app.state.tabs[tab].cursor.index)?.name ?? tab;
    return openExportOverlay(app, { kind: "detail", name, detail });
  }
  const { snapshot } = app.liveView;
  const wall = app.context.clock.getWallTime();
  const { filter } = app.state.tabs[tab];
  const { table, rows } = app.table.buildExport(wall);
  const { column, descending } = app.table.order;
  openExportOverlay(app, {
    kind: "table",
    name: tab,
    table,
    json: {
      revision: snapshot.revision,
      at: wall,
      prefix: app.context.keys.prefix,
      view: tab,
      filter,
      sort: `${descending ? "-" : ""}${column}`,
      columns: table.columns.map(({ id }) => id),
      rows,
    },
  });
}
