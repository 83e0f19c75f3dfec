import { useEffect, useMemo, useState } from "react";
import {
  type ComparedRow,
  type ComparedTable,
  type Comparison,
  compareStates,
  type PastState,
} from "../../cli/commands/see/comparison.ts";
import { buildGridSpans } from "../../cli/commands/see/grid.ts";
import type { PastTarget } from "../../cli/frame/command-line/past-target.ts";
import { findPastMoment, readPastSnapshot } from "../../cli/frame/past-moment.ts";
import { formatEventText } from "../../cli/views/event.ts";
import { formatInstant } from "../../core/base/clock.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { getErrorMessage } from "../../core/base/errors.ts";
import { pluralize } from "../../core/base/text.ts";
import type { ConsoleApp } from "../console-app.ts";
import { clamp } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import {
  BLANK_ROW,
  computeCellsWidth,
  createRow,
  joinCellTexts,
  type RowCell,
  type RowModel,
} from "../theme/Row.tsx";
import { OverlayFrame, useKeys, useOverlay, useScroll } from "./OverlayFrame.tsx";

/** Shows the states of the site at two moments side by side. */
export function openComparison(app: ConsoleApp, from: PastTarget, until: PastTarget): void {
  app.overlays.open(<ComparisonView from={from} until={until} />);
}

/** How a difference is shown: by a sign and a colour. */
const CHANGES: Readonly<Record<ComparedRow["change"], { sign: string; role: StyleRole | undefined }>> = {
  same: { sign: " ", role: undefined },
  added: { sign: "+", role: "held" },
  removed: { sign: "-", role: "problem" },
  changed: { sign: "~", role: "waiting" },
};

/** Maximum number of rows of a listing that are the same. All that differ are shown. */
const MOST_SAME_ROWS = 100;

function ComparisonView({ from, until }: { from: PastTarget; until: PastTarget }) {
  const { app, room, close } = useOverlay();
  const [states, setStates] = useState<readonly PastState[]>([]);
  const [fault, setFault] = useState<string>();
  const [hidesSame, setHidesSame] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      const found: PastState[] = [];
      for (const target of [from, until]) {
        const moment = await findPastMoment(app.context, target, stop.signal);
        found.push({ moment, snapshot: await readPastSnapshot(app.context, moment, stop.signal) });
        setStates([...found].sort((a, b) => Number(a.moment.revision - b.moment.revision)));
      }
    };
    void read().catch((error: unknown) => stop.signal.aborted || setFault(getErrorMessage(error)));
    return () => stop.abort(new Error("the comparison is no longer shown"));
  }, [app, from, until]);
  const [before, after] = states;
  const comparison = useMemo(() => before && after && compareStates(before, after), [before, after]);
  const rows = buildRows(app, { states, comparison, fault }, { width: room.width, hidesSame });
  const height = clamp(rows.length, 1, room.height);
  const [top, scroll] = useScroll(rows.length, height);
  useKeys(
    { q: close, d: () => setHidesSame(!hidesSame) },
    scroll,
    states.length === 2 || fault !== undefined,
  );
  return (
    <OverlayFrame
      title="compare two times"
      rows={rows.slice(top, top + height)}
      hints={[
        rows.length > height && ["↑↓ PgUp PgDn", "scroll"],
        ["d", hidesSame ? "all rows" : "only differences"],
      ]}
      width={room.width}
      listLines={() => rows.map(({ cells }) => joinCellTexts(cells))}
    />
  );
}

/** What was read so far. */
interface ComparisonState {
  states: readonly PastState[];
  comparison: Comparison | undefined;
  fault: string | undefined;
}

interface Look {
  width: number;
  hidesSame: boolean;
}

function buildRows(app: ConsoleApp, { states, comparison, fault }: ComparisonState, look: Look): RowModel[] {
  const [before, after] = states;
  if (fault !== undefined) return [createRow(`the past cannot be read: ${fault}`, "problem")];
  if (before === undefined || after === undefined || comparison === undefined)
    return [createRow(`reading: ${states.length} of 2 states${app.theme.signs.ellipsis}`, "quiet")];
  const { tables, events } = comparison;
  const { vertical } = app.theme.signs;
  const half = Math.floor((look.width - 3) / 2);
  const join = (left: readonly RowCell[], right: readonly RowCell[]): RowModel => ({
    cells: [
      ...left,
      { text: " ".repeat(Math.max(0, half - computeCellsWidth(left))) },
      { text: ` ${vertical} `, role: "border" },
      ...right,
    ],
  });
  const name = ({ moment: { at, revision } }: PastState): RowCell[] => [
    { text: cleanToWidth(`${formatInstant(at)}, revision ${revision}`, half), role: "heading" },
  ];
  const shown = tables.flatMap((table) =>
    buildTableRows(app, table, [before, after], { ...look, width: half }, join),
  );
  const happened = events.map(
    (event): RowModel =>
      createRow(cleanToWidth(`${formatInstant(event.at)}  ${formatEventText(event)}`, look.width)),
  );
  return [
    join(name(before), name(after)),
    ...(shown.length === 0 ? [BLANK_ROW, createRow("no row differs", "quiet")] : shown),
    BLANK_ROW,
    createRow(
      `BETWEEN  ${events.length === 0 ? "nothing is recorded" : pluralize(events.length, "event")}`,
      "heading",
    ),
    ...happened,
  ];
}

function buildTableRows(
  app: ConsoleApp,
  { listing, columns, rows }: ComparedTable,
  states: readonly [PastState, PastState],
  { width, hidesSame }: Look,
  join: (left: readonly RowCell[], right: readonly RowCell[]) => RowModel,
): RowModel[] {
  let same = 0;
  const shown = rows.filter(({ change }) => change !== "same" || (!hidesSame && ++same <= MOST_SAME_ROWS));
  if (shown.length === 0) return [];
  const differing = rows.filter(({ change }) => change !== "same").length;
  const more = hidesSame ? 0 : Math.max(0, rows.length - differing - MOST_SAME_ROWS);
  const sides = (["before", "after"] as const).map((side, at) => {
    const own = shown.flatMap((row) => row[side] ?? []);
    const table = {
      columns: columns.map(({ below: _, ...column }) => column),
      rows: own,
      wall: states[at]?.moment.at ?? 0,
    };
    const { head, rows: lines } = buildGridSpans(table, app.theme.createLook(width - 2));
    const texts = lines.map(([line = []]) => line);
    return {
      head: [{ text: "  " }, ...head],
      lines: shown.map((row) => paint(row, row[side] && texts.shift())),
    };
  });
  const [left, right] = sides;
  return [
    BLANK_ROW,
    createRow(
      `${listing.toUpperCase()}  ${differing === 0 ? "none differs" : `${differing} of ${rows.length} differ`}`,
      "heading",
    ),
    join(left?.head ?? [], right?.head ?? []),
    ...shown.map((_, at) => join(left?.lines[at] ?? [], right?.lines[at] ?? [])),
    ...(more === 0 ? [] : [createRow(`  and ${more} more that are the same`, "quiet")]),
  ];
}

function paint({ change }: ComparedRow, line: readonly RowCell[] | undefined): RowCell[] {
  const { sign, role } = CHANGES[change];
  if (line === undefined) return [];
  if (role === undefined) return [{ text: "  " }, ...line];
  return [{ text: `${sign} `, role }, ...line.map(({ text }) => ({ text, role }))];
}
