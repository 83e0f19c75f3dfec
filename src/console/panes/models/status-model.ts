import { cleanToWidth } from "../../../base/display-width.ts";
import { formatBriefDuration } from "../../../base/duration.ts";
import type {
  ClockAccess,
  DataAccess,
  HintAccess,
  JobAccess,
  StateAccess,
  ThemeAccess,
} from "../../parts/parts.ts";
import { computeCellsWidth } from "../../theme/cells.ts";
import type { StyleRole } from "../../theme/roles.ts";
import { type BarModel, type BarSegment, buildBar } from "./bar-model.ts";

type StatusInputs = ClockAccess & DataAccess & JobAccess & HintAccess & StateAccess & ThemeAccess;

/** Builds the last line: the connection state, running jobs, a toast, and the keys of the context. */
export function buildStatusModel(app: StatusInputs, width: number): BarModel {
  const isLive = app.liveView.connection.kind === "live";
  const ground: StyleRole = isLive ? "barLive" : "barAway";
  const left = [
    ...buildConnectionSegments(app, ground),
    ...buildJobSegments(app, ground),
    ...buildToastSegments(app, ground),
  ];
  const hints = app.getHints().map(([key, what], at): BarSegment => {
    return { text: formatHint(key, what), role: ground, weight: 5 + at };
  });
  return buildBar(width, left, hints, ground);
}

/** Returns the key whose hint is at a column of that line. */
export function findHintAt(app: StatusInputs, width: number, column: number): string | undefined {
  const { left, right, gap } = buildStatusModel(app, width);
  let start = computeCellsWidth(left) + gap;
  for (const cell of right) {
    const end = start + computeCellsWidth([cell]);
    if (column >= start && column < end)
      return app.getHints().find(([key, what]) => formatHint(key, what) === cell.text)?.[0];
    start = end;
  }
  return undefined;
}

function formatHint(key: string, what: string): string {
  return ` ${key} ${what} `;
}

function buildConnectionSegments(app: ClockAccess & DataAccess & ThemeAccess, role: StyleRole): BarSegment[] {
  const { liveView, theme } = app;
  const { connection: state, snapshot, clusterHealth } = liveView;
  const { signs } = theme;
  const age = formatBriefDuration(app.getWallTime() - state.since);
  const revision = snapshot.revision === 0n ? "" : `rev ${snapshot.revision}`;
  if (state.kind === "live") {
    const cluster = clusterHealth === undefined ? "" : formatCluster(clusterHealth, signs.dot);
    return [
      { text: ` ${signs.marks.held}live ${revision}`, role, weight: 1 },
      { text: cluster, role, weight: 3 },
    ];
  }
  const what = {
    opening: `connecting for ${age}`,
    away: `etcd unreachable ${age}${revision && `, last known: ${revision}`}`,
    refused: `access refused ${age}${revision && `, last known: ${revision}`}`,
  }[state.kind];
  return [
    { text: ` ${signs.marks.problem}${what}`, role, weight: 1 },
    {
      text: state.fault === undefined ? "" : ` ${signs.dot} ${cleanToWidth(state.fault, 60)}`,
      role,
      weight: 4,
    },
  ];
}

function formatCluster(
  { leader, up, total, ms }: NonNullable<DataAccess["liveView"]["clusterHealth"]>,
  dot: string,
): string {
  const parts = [
    ...(leader === undefined ? [] : [`leader ${cleanToWidth(leader, 30)}`]),
    `${up}/${total}`,
    `${Math.max(1, Math.round(ms))} ms`,
  ];
  return parts.map((part) => ` ${dot} ${part}`).join("");
}

function buildJobSegments(
  { jobs: { running }, theme }: JobAccess & ThemeAccess,
  role: StyleRole,
): BarSegment[] {
  const [first] = running;
  if (first === undefined) return [];
  const more = running.length > 1 ? ` +${running.length - 1}` : "";
  return [
    {
      text: ` ${theme.signs.dot} ${theme.signs.arrow} ${cleanToWidth(first.title, 40)}${more}`,
      role,
      weight: 2,
    },
  ];
}

function buildToastSegments(
  { state: { toast: shown }, theme }: StateAccess & ThemeAccess,
  role: StyleRole,
): BarSegment[] {
  if (shown === undefined) return [];
  return [{ text: ` ${theme.signs.dot} ${cleanToWidth(shown.text, 70)}`, role, weight: 2 }];
}
