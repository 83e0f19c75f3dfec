import { Box, Text } from "ink";
import type { ReactNode } from "react";
import { cleanToWidth } from "../../base/display-width.ts";
import {
  BLANK_ROW,
  type DialogModel,
  type Hint,
  listContentRows,
  type OverlayBoxModel,
  type OverlayContent,
  type OverlayModel,
  type PaletteModel,
} from "../parts/overlay.ts";
import type { Size } from "../state/layout.ts";
import { computeCellsWidth, padCells, type RowCell, type RowModel, truncateCells } from "../theme/cells.ts";
import { Row, Rows, Span, useTheme } from "../theme/Row.tsx";
import type { StyleRole } from "../theme/roles.ts";

/** An overlay in its frame, at its position. */
export function OverlayBox({ left, top, model }: OverlayBoxModel) {
  const { content, width } = model;
  return (
    <Box position="absolute" left={left} top={top}>
      <OverlayFrame model={model} height={listContentRows(content).length}>
        <Content content={content} width={width} />
      </OverlayFrame>
    </Box>
  );
}

function Content({ content, width }: { content: OverlayContent; width: number }) {
  switch (content.kind) {
    case "text":
      return <FittedRows rows={content.rows} width={width} />;
    case "filter":
      return <FittedRows rows={listContentRows(content)} width={width} />;
    case "palette":
      return <Palette model={content} width={width} />;
    case "dialog":
      return <Dialog model={content} width={width} />;
  }
}

interface OverlayFrameProps {
  model: Pick<OverlayModel, "title" | "hints" | "width" | "tone">;
  /** Rows of the content. */
  height: number;
  children: ReactNode;
}

/** A frame with a title at the top and the keys at the bottom. */
function OverlayFrame({ model: { title, hints, width, tone }, height, children }: OverlayFrameProps) {
  const [topLeft, topRight, bottomLeft, bottomRight] = useTheme().signs.corners;
  const role = tone === "danger" ? "danger" : "border";
  const head: RowCell = {
    text: ` ${cleanToWidth(title, width)} `,
    role: tone === "danger" ? "danger" : "titleFocused",
  };
  const keys = buildHintCells(hints);
  const foot = computeCellsWidth(keys) <= width ? keys : [];
  return (
    <Box flexDirection="column">
      <Edge ends={[topLeft, topRight]} cells={[head]} width={width} role={role} />
      <Box>
        <Side height={height} role={role} isLeft />
        <Box flexDirection="column" width={width}>
          {children}
        </Box>
        <Side height={height} role={role} />
      </Box>
      <Edge ends={[bottomLeft, bottomRight]} cells={foot} width={width} role={role} />
    </Box>
  );
}

function buildHintCells(hints: readonly Hint[]): RowCell[] {
  const cells = hints.flatMap(([key, what], at): RowCell[] => [
    { text: at === 0 ? " " : "  " },
    { text: key, role: "key" },
    { text: " " },
    { text: what, role: "quiet" },
  ]);
  return [...cells, { text: " " }];
}

interface EdgeProps {
  ends: readonly [string, string];
  cells: readonly RowCell[];
  width: number;
  role: StyleRole;
}

/** The upper or the lower edge, with a text in it. */
function Edge({ ends: [left, right], cells, width, role }: EdgeProps) {
  const { horizontal } = useTheme().signs;
  const rest = horizontal.repeat(Math.max(0, width + 1 - computeCellsWidth(cells)));
  const all = [{ text: left + horizontal, role }, ...cells, { text: rest + right, role }];
  return <Row cells={all} width={width} />;
}

/** The left or the right edge, with a blank between it and the content. */
function Side({ height, role, isLeft }: { height: number; role: StyleRole; isLeft?: true }) {
  const { vertical } = useTheme().signs;
  const line = isLeft ? `${vertical} ` : ` ${vertical}`;
  return (
    <Box width={2} flexShrink={0}>
      <Text wrap="truncate">
        <Span cell={{ text: Array(height).fill(line).join("\n"), role }} />
      </Text>
    </Box>
  );
}

/** Rows that fill their width, so that nothing beneath them shows through. */
function FittedRows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  const fitted = rows.map((row) => ({ ...row, cells: padCells(truncateCells(row.cells, width), width) }));
  return <Rows rows={fitted} width={width} />;
}

/** What a command would do, its fields, the same command for a shell, and the confirmation. */
function Dialog({ model, width }: { model: DialogModel; width: number }) {
  const { preview, fields, command, confirmation, faults } = model;
  return (
    <>
      <FittedRows rows={[...preview, BLANK_ROW]} width={width} />
      <FittedRows rows={[...fields, BLANK_ROW]} width={width} />
      <FittedRows rows={[command]} width={width} />
      <FittedRows rows={confirmation} width={width} />
      <FittedRows rows={faults} width={width} />
    </>
  );
}

interface PaletteProps {
  model: PaletteModel;
  width: number;
}

/** The field of the palette, what was found, and how much. */
function Palette({ model: { field, matches, notes }, width }: PaletteProps) {
  return (
    <>
      <FittedRows rows={[field]} width={width} />
      <FittedRows rows={matches} width={width} />
      <FittedRows rows={notes} width={width} />
    </>
  );
}

/** The area of a pane. What does not fit is not shown. */
export function PaneBox({ size: { width, height }, children }: { size: Size; children: ReactNode }) {
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      <Box flexDirection="column" width={width} flexShrink={0}>
        {children}
      </Box>
    </Box>
  );
}
