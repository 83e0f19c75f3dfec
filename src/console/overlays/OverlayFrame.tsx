import { Box, Text } from "ink";
import type { ReactNode } from "react";
import { cleanToWidth } from "../../base/display-width.ts";
import type { Hint, OverlayModel } from "../parts/overlay.ts";
import { computeCellsWidth, type RowCell } from "../theme/cells.ts";
import { Row, Span } from "../theme/Row.tsx";
import type { StyleRole } from "../theme/roles.ts";
import { useTheme } from "../theme/ThemeContext.tsx";

interface OverlayFrameProps {
  model: Pick<OverlayModel, "title" | "hints" | "width" | "tone">;
  /** Rows of the content. */
  height: number;
  children: ReactNode;
}

/** A frame with a title at the top and the keys at the bottom. */
export function OverlayFrame({ model: { title, hints, width, tone }, height, children }: OverlayFrameProps) {
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
