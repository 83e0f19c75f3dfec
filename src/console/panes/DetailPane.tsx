import type { ConsoleParts } from "../parts/console-parts.ts";
import { findSelectedLine, listDetailLines } from "../parts/pane-lines.ts";
import type { Size } from "../state/layout.ts";
import type { RowModel } from "../theme/cells.ts";
import { Row, Rows, useTheme } from "../theme/Row.tsx";
import { PaneBox } from "./boxes.tsx";

/** The detail of the selected row. */
export function DetailPane({ model: { rows, more, ...size } }: { model: DetailModel }) {
  return (
    <PaneBox size={size}>
      <Rows rows={rows} width={size.width} />
      {more > 0 && <More count={more} />}
    </PaneBox>
  );
}

function More({ count }: { count: number }) {
  const { signs } = useTheme();
  return <Row cells={[{ text: ` ${signs.ellipsis} ${count} more lines`, role: "quiet" }]} width={0} />;
}

/** The visible lines of the detail. */
export interface DetailModel extends Size {
  rows: readonly RowModel[];
  /** Number of lines below them; then there is room for one line less. */
  more: number;
}

/** Builds the detail of the selected subject at its scroll position. */
export function buildDetailModel(app: ConsoleParts, size: Size): DetailModel {
  const lines = listDetailLines(app, size.width);
  const top = Math.max(0, Math.min(app.state.detail.top, lines.length - size.height));
  const selected = findSelectedLine(app, lines);
  const rows = lines.slice(top, top + size.height).map(
    ({ spans }, at): RowModel => ({
      cells: [{ text: " " }, ...spans],
      selection: top + at === selected ? "focused" : undefined,
    }),
  );
  const left = lines.length - top - size.height;
  return left <= 0 ? { ...size, rows, more: 0 } : { ...size, rows: rows.slice(0, -1), more: left + 1 };
}
