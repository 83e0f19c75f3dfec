import { cleanToWidth } from "../../../base/display-width.ts";
import { listWaitChains } from "../../../model/insight/waits.ts";
import { formatWaitChain, type WaitLine } from "../../../model/insight/waits-text.ts";
import { NOT_READ_YET } from "../../data/not-read-yet.ts";
import type { ClockAccess, DialogPorts } from "../../parts/parts.ts";
import { createRow } from "../../theme/cells.ts";
import { openTarget } from "../dialog/target.ts";
import { type ListRow, openRowList } from "../row-list.ts";

type WaitsParts = ClockAccess & DialogPorts;

/** Minimum time between two computations, ms: a site can have 100,000 waiting runs and changes all the time. */
const PAUSE = 1_000;
/** Longest line, columns. */
const WIDEST = 200;
/** Largest number of lines: nobody reads more. */
const MOST = 1_000;

/** Shows who waits for whom, in the state on the screen. Rows lead to their runs. */
export function openWaits(app: WaitsParts): void {
  let known: { of: unknown; at: number; rows: readonly ListRow[] } | undefined;
  openRowList(app, {
    title: "who waits for whom",
    listRows: () => {
      const { snapshot } = app.liveView;
      const now = app.getPresentTime();
      if (known !== undefined && (known.of === snapshot || Math.abs(now - known.at) < PAUSE))
        return known.rows;
      known = { of: snapshot, at: now, rows: buildRows(app) };
      return known.rows;
    },
  });
}

function buildRows(app: WaitsParts): ListRow[] {
  if (!app.liveView.hasRead) return [{ key: "", ...createRow(NOT_READ_YET) }];
  const wall = app.getWallTime();
  const lines = listWaitChains(app.liveView.snapshot)
    .slice(0, MOST)
    .flatMap((chain) => formatWaitChain(chain, wall));
  if (lines.length === 0) return [{ key: "", ...createRow("no run waits") }];
  return lines.slice(0, MOST).map((line, at) => buildRow(app, line, at));
}

function buildRow(app: WaitsParts, { text, run, depth, tone }: WaitLine, at: number): ListRow {
  const row = createRow(cleanToWidth(text, WIDEST), tone);
  if (run === undefined) return { key: `${at}`, ...row };
  const subject = { kind: "run", name: run } as const;
  return { key: `${depth} ${run}`, ...row, open: () => openTarget(app, { title: `run ${run}`, subject }) };
}
