import { Row } from "../theme/Row.tsx";
import { Rows } from "../theme/Rows.tsx";
import { useTheme } from "../theme/ThemeContext.tsx";
import { PaneBox } from "./PaneBox.tsx";
import type { TableModel, TableRowModel } from "./table-model.ts";

/** The rows of the active view, below the titles of their columns. */
export function Table({ model }: { model: TableModel }) {
  return (
    <PaneBox size={model}>
      <Rows rows={model.notes} width={model.width} />
      {model.head && <Row cells={[{ text: "  " }, ...model.head]} width={model.width} />}
      {model.rows.map((row) => (
        <TableRow key={row.key} row={row} width={model.width} />
      ))}
    </PaneBox>
  );
}

/** A row with its mark. */
function TableRow({
  row: { cells, isMarked, isWatched, selection },
  width,
}: {
  row: TableRowModel;
  width: number;
}) {
  const { signs } = useTheme();
  const mark = isMarked ? ({ text: signs.marked, role: "marked" } as const) : { text: " " };
  const watch = isWatched ? ({ text: signs.watched, role: "match" } as const) : { text: " " };
  return <Row cells={[mark, watch, ...cells]} selection={selection} width={width} />;
}
