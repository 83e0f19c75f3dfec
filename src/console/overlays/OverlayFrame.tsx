import { Box } from "ink";
import { createContext, use, useEffect, useLayoutEffect, useState } from "react";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import type { KeyRange } from "../../core/protocol/txn.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole, useFrame } from "../context.tsx";
import { OutcomeReader } from "../data/outcome-reader.ts";
import { Area } from "../mouse.tsx";
import { PartBoundary } from "../PartBoundary.tsx";
import type { Hint, Hints } from "../parts/overlays.ts";
import { clamp, computeWindowTop, scrollBy, stepBy } from "../state/cursor.ts";
import type { Size } from "../state/layout.ts";
import type { InputEvent, MouseEvent } from "../terminal/input-event.ts";
import {
  computeCellsWidth,
  padCells,
  Row,
  type RowCell,
  type RowModel,
  Rows,
  Surface,
  truncateCells,
  useFrameLines,
} from "../theme/Row.tsx";
import { buildFieldCells, createField, editField } from "./field.ts";

/**
 * The place of an overlay: below the header (the palette), in the middle, as a line above the status bar, or next to a
 * position of the screen, which it does not cover.
 */
export type OverlayPlace = "top" | "middle" | "bottom" | { column: number; row: number };

interface FrameProps {
  title: string;
  /** The content, at most as many rows as there is room for. */
  rows: readonly RowModel[];
  /** Keys and their effects, besides Escape. */
  hints: Hints;
  /** What Escape does, in a word. */
  escape?: string | undefined;
  /** Columns of the content. */
  width: number;
  at?: OverlayPlace;
  tone?: "plain" | "danger";
  /** See `OverlayText`. */
  listLines?: () => readonly string[];
  /** A row of the content was clicked. */
  onPress?(row: number): void;
  /** The mouse was pressed outside the overlay. */
  onPressOutside?(): void;
}

/** The frame of an overlay at its place, with its title at the top, its rows, and the keys at the bottom. */
export function OverlayFrame(props: FrameProps) {
  const { title, rows, width, at = "middle", tone, listLines } = props;
  const all: Hints = [...props.hints, ["Esc", props.escape ?? "close"]];
  const hints = all.filter((hint) => hint !== undefined && hint !== false);
  const { app, id, screen } = useOverlay();
  useLayoutEffect(() => app.overlays.setText(id, { title: clean(title), rows, hints, listLines }));
  const lines = useFrameLines(tone === "danger" ? "danger" : "border", "overlay");
  const head: RowCell = {
    text: ` ${cleanToWidth(title, width - 1)} `,
    role: tone === "danger" ? "danger" : "titleFocused",
  };
  const keys = buildHintCells(hints);
  const size = { width: width + 4, height: rows.length + 2 };
  return (
    <Area
      position="absolute"
      alignItems="flex-start"
      left={0}
      top={0}
      {...screen}
      {...(typeof at === "object" ? placeNextTo(screen, size, at) : PLACES[at])}
      onMouse={(event) => isPress(event) && props.onPressOutside?.()}
    >
      <Area flexShrink={0} onMouse={() => {}}>
        <Surface ground="overlay" flexDirection="column" {...size} {...lines}>
          <Area flexDirection="column" onMouse={(event) => isPress(event) && props.onPress?.(event.row)}>
            {/* Rows fill their width, so that nothing beneath them shows through. */}
            <Rows rows={rows.map((row) => fillRow(row, width))} width={width + 2} />
          </Area>
          <Box position="absolute" top={-1} left={1}>
            <Row cells={[head]} />
          </Box>
          <Box position="absolute" bottom={-1} left={1}>
            {computeCellsWidth(keys) <= width && <Row cells={keys} />}
          </Box>
        </Surface>
      </Area>
    </Area>
  );
}

/** Returns a row that fills the width of the content, and the blanks at both sides of it. */
function fillRow({ cells, ...row }: RowModel, width: number): RowModel {
  const filled = padCells(truncateCells(cells, width), width);
  return { ...row, cells: [{ text: " " }, ...filled, { text: " " }] };
}

function isPress({ action }: MouseEvent): boolean {
  return action === "press";
}

/** Places of an overlay that do not depend on its size. */
const PLACES = {
  top: { justifyContent: "center", paddingTop: 1 },
  middle: { justifyContent: "center", alignItems: "center" },
  bottom: { justifyContent: "center", alignItems: "flex-end", paddingBottom: 1 },
} as const;

/** Places an overlay below a position, or above it if there is no room below. */
function placeNextTo(screen: Size, own: Size, { column, row }: { column: number; row: number }) {
  const free = Math.max(0, screen.height - own.height);
  const above = row - own.height;
  const top = row + 1 < free ? row + 1 : above >= 1 ? above : free - 1;
  return {
    paddingLeft: clamp(column, 0, screen.width - own.width),
    paddingTop: Math.max(0, top),
  };
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

/** The overlay that a component is in. */
interface OverlayAccess {
  app: ConsoleApp;
  id: number;
  /** Columns and rows of the whole screen. */
  screen: Size;
  /** The largest content, without the frame. */
  room: Size;
  /** The columns of the content: as many as are wanted, if there is room. */
  width: number;
  close(): void;
}

const OverlayContext = createContext<{ id: number; screen: Size } | undefined>(undefined);

/** Renders all overlays, the lowest first. @param screen  columns and rows that they may use */
export function OverlayHost({ screen }: { screen: Size }) {
  const app = useApp();
  return useConsole(getOverlays).map(({ id, content }) => (
    <OverlayContext key={id} value={{ id, screen }}>
      <PartBoundary app={app}>{content}</PartBoundary>
    </OverlayContext>
  ));
}

const getOverlays = ({ overlays }: ConsoleApp) => overlays.all;

/** Returns the overlay that the component is in. @param wanted  columns of its content; default: all that there are */
export function useOverlay(wanted = Number.POSITIVE_INFINITY): OverlayAccess {
  const app = useFrame();
  const overlay = use(OverlayContext);
  if (overlay === undefined) throw new Error("this component needs an overlay around it");
  const { id, screen } = overlay;
  const room = { width: Math.max(20, screen.width - 6), height: Math.max(3, screen.height - 6) };
  const width = Math.min(wanted, room.width);
  return { app, id, screen, room, width, close: () => app.overlays.close(id) };
}

/**
 * Handles the keys, by chord, and the mouse wheel, by its action, while the overlay is the top one. Escape closes it,
 * unless it is among the keys.
 * @param onOther  receives all other keys and turns of the wheel, as a chord and as the event
 * @param isReady  false: events are kept until what they apply to is read
 */
export function useKeys(
  keys: Readonly<Record<string, (() => void) | undefined>>,
  onOther?: (chord: string, event: InputEvent) => void,
  isReady = true,
): void {
  const { app, id, close } = useOverlay();
  const handle = (event: InputEvent) => {
    const chord = event.kind === "key" ? event.chord : event.kind === "mouse" ? event.action : "";
    const own = Object.hasOwn(keys, chord) ? keys[chord] : chord === "escape" ? close : undefined;
    if (own === undefined) onOther?.(chord, event);
    else own();
  };
  useLayoutEffect(() => (isReady ? app.overlays.setInput(id, handle) : undefined));
}

/** Returns the index that a key leads to: the same one for keys that do not move. */
export function moveInList(at: number, length: number, chord: string): number {
  return stepBy(chord, at, length - 1, { page: 10, wheel: 1 });
}

/**
 * A cursor in a list.
 * @returns the index of the row it is on, the function that moves it by a key, and the one that sets it
 */
export function useListCursor(
  length: number,
): [at: number, move: (chord: string) => void, set: (at: number) => void] {
  const [wanted, setWanted] = useState(0);
  const at = clamp(wanted, 0, length - 1);
  return [at, (chord) => setWanted(moveInList(at, length, chord)), setWanted];
}

/** A field that the user types in. `edit` returns whether an event has changed it. */
export function useField(start?: string) {
  const [field, setField] = useState(() => createField(start));
  return {
    text: field.text,
    buildCells: (width: number) => buildFieldCells(field, width),
    setText: (text: string) => setField(createField(text)),
    edit(event: InputEvent): boolean {
      const next = editField(field, event) ?? field;
      if (next !== field) setField(next);
      return next !== field;
    },
  };
}

/**
 * Keeps the scroll position of a text.
 * @param followsEnd  shows the end of a text that grows, until the user scrolls up
 * @returns the first visible line, and the function that scrolls by a key
 */
export function useScroll(
  length: number,
  height: number,
  followsEnd = false,
): [top: number, scroll: (chord: string) => void, setTop: (top: number) => void] {
  const [wanted, setWanted] = useState(followsEnd ? Number.POSITIVE_INFINITY : 0);
  const last = Math.max(0, length - height);
  const top = Math.min(wanted, last);
  const scroll = (chord: string) => {
    const next = scrollBy(chord, top, length, height);
    setWanted(followsEnd && next >= last ? Number.POSITIVE_INFINITY : next);
  };
  return [top, scroll, setWanted];
}

/**
 * Reads the outcomes of schedules while the overlay is open, again whenever a run has ended.
 * @param ranges  undefined: none are needed
 * @param of     state that is stored beside the outcomes and changes with them
 */
export function useOutcomes(
  ranges: readonly Required<KeyRange>[] | undefined,
  of: unknown,
): OutcomeReader | undefined {
  const { app } = useOverlay();
  const [reader] = useState(() => ranges && new OutcomeReader(app.context, ranges, () => app.notifyChange()));
  useEffect(() => reader?.refresh(of, app.liveView.snapshot));
  useEffect(() => () => reader?.end(), [reader]);
  return reader;
}

interface ListFrameProps extends FrameProps {
  /** Index of the selected row. */
  cursor: number;
  /** Fixed rows above and below the list. */
  head?: readonly RowModel[];
  foot?: readonly RowModel[];
}

/** A list in a frame: as many rows around the selected one as fit. `onPress` receives the index of the row. */
export function ListFrame({ rows, cursor, head = [], foot = [], ...frame }: ListFrameProps) {
  const { room } = useOverlay();
  const height = clamp(rows.length, 1, room.height - head.length - foot.length);
  const top = computeWindowTop(cursor, rows.length, height);
  const shown = rows.slice(top, top + height).map((row, at): RowModel => {
    return top + at === cursor ? { ...row, selection: "focused" } : row;
  });
  return (
    <OverlayFrame
      {...frame}
      rows={[...head, ...shown, ...foot]}
      onPress={(line) => rows[top + line - head.length] && frame.onPress?.(top + line - head.length)}
    />
  );
}
