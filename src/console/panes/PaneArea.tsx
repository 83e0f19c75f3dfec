import { Box } from "ink";
import type { ReactNode } from "react";
import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole } from "../context.tsx";
import { Area, type AreaEvent, isClick } from "../mouse.tsx";
import { PartBoundary } from "../PartBoundary.tsx";
import { pressBorder } from "../parts/borders.ts";
import { scrollPane } from "../parts/moves.ts";
import type { Border, Pane } from "../state/console-state.ts";
import type { Size } from "../state/layout.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { Row, type RowModel, Rows, Surface, useFrameLines, useTheme } from "../theme/Row.tsx";

interface PaneProps {
  id: Pane;
  size: Size;
  children?: ReactNode;
  /** A line was pressed. @param line  from 0 */
  onPress(app: ConsoleApp, line: number, event: AreaEvent): void;
  /** The wheel was turned. Default: scrolls the pane. */
  onScroll?(app: ConsoleApp, by: 3 | -3): void;
}

/** Backgrounds of panes. Other panes have the theme's base. */
const GROUNDS: Partial<Record<Pane, StyleRole>> = { explorer: "sidebar", panel: "panel" };

/** The area of a pane. The wheel scrolls it. Content that does not fit is cut. */
export function PaneArea({ id, size: { width, height }, children, onPress, onScroll }: PaneProps) {
  const app = useApp();
  const scroll = onScroll ?? ((_, by) => scrollPane(app, id, by));
  const handleMouse = (event: AreaEvent) => {
    if (event.action === "wheel-down" || event.action === "wheel-up")
      scroll(app, event.action === "wheel-down" ? 3 : -3);
    if (event.action === "press") onPress(app, event.row, event);
  };
  return (
    <Surface ground={GROUNDS[id]}>
      <Area flexDirection="column" width={width} height={height} overflowY="hidden" onMouse={handleMouse}>
        <Box flexDirection="column" width={width} flexShrink={0}>
          <PartBoundary app={app}>{children}</PartBoundary>
        </Box>
      </Area>
    </Surface>
  );
}

interface PaneRowsProps {
  size: Size;
  build(app: ConsoleApp, size: Size): readonly RowModel[];
}

/** The rows of a pane. */
export function PaneRows({ size, build }: PaneRowsProps) {
  return <Rows rows={useConsole(build, size)} width={size.width} />;
}

interface TitleRowProps {
  width: number;
  isFocused: boolean;
  children?: ReactNode;
}

/** The title of a pane. Its background shows whether the pane has the focus. */
export function TitleRow({ width, isFocused, children }: TitleRowProps) {
  return (
    <Surface ground={isFocused ? "titleRowFocused" : "titleRow"} width={width} height={1} overflow="hidden">
      {children}
    </Surface>
  );
}

interface BorderLineProps {
  border: Border;
  width: number;
  isFocused: boolean;
  /** The title. */
  children?: ReactNode;
}

/** A line with a title between two panes that are one above the other. The user can drag it. */
export function BorderLine({ border, width, isFocused, children }: BorderLineProps) {
  const app = useApp();
  const { signs, getLook } = useTheme();
  // The sign draws the line only in themes without backgrounds.
  const sign = getLook("titleRow")?.ground === undefined ? signs.horizontal : " ";
  const role = isFocused ? "accent" : "border";
  return (
    <Area onMouse={(event) => isClick(event) && pressBorder(app, border)}>
      <TitleRow width={width} isFocused={isFocused}>
        <Box flexShrink={0}>
          <Row cells={[{ text: `${sign} `, role }]} />
          {children}
          <Row cells={[{ text: sign.repeat(width), role }]} />
        </Box>
      </TitleRow>
    </Area>
  );
}

/** A line between two panes that are side by side. The user can drag it. */
export function Divider({ border, isFocused }: { border: Border; isFocused: boolean }) {
  const app = useApp();
  return (
    <Area
      {...useFrameLines(isFocused ? "accent" : "border")}
      borderTop={false}
      borderBottom={false}
      borderRight={false}
      flexShrink={0}
      onMouse={(event) => isClick(event) && pressBorder(app, border)}
    />
  );
}
