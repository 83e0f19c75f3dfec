import type { RowCell } from "../theme/cells.ts";
import { Row } from "../theme/Row.tsx";
import { Rows } from "../theme/Rows.tsx";
import { useTheme } from "../theme/ThemeContext.tsx";
import { PaneBox } from "./PaneBox.tsx";
import type { PanelModel, PanelTitleModel } from "./panel-model.ts";

/** Events, jobs, problems, the audit or the log, below the table. */
export function Panel({ model: { rows, ...size } }: { model: PanelModel }) {
  return (
    <PaneBox size={size}>
      <Rows rows={rows} width={size.width} />
    </PaneBox>
  );
}

/** The line above the panel: the names of its views. */
export function PanelTitle({ model: { width, isFocused, titles } }: { model: PanelTitleModel }) {
  const { horizontal } = useTheme().signs;
  const length = titles.reduce((sum, { text }) => sum + text.length + 2, 0);
  const names = titles.flatMap(({ text, isActive, isUrgent }, at): RowCell[] => [
    ...(at === 0 ? [] : [{ text: "  " }]),
    { text, role: isActive ? (isFocused ? "titleFocused" : "heading") : isUrgent ? "problem" : "title" },
  ]);
  const rest = ` ${horizontal.repeat(Math.max(0, width - length - 1))}`;
  const role = isFocused ? "accent" : "border";
  const start: RowCell = { text: `${horizontal} `, role };
  return <Row cells={[start, ...names, { text: rest, role }]} width={width} />;
}
