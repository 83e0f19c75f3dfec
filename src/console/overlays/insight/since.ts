import { cleanToWidth } from "../../../base/display-width.ts";
import { formatBriefDuration } from "../../../base/duration.ts";
import { readAllOutcomes } from "../../../commands/see/insight/read-outcomes.ts";
import {
  groupPastEvents,
  listEventsSince,
  type PastEventGroup,
  type SinceReport,
} from "../../../model/insight/since.ts";
import { buildQueueId } from "../../../model/snapshot/snapshot.ts";
import { NOT_READ_YET } from "../../data/not-read-yet.ts";
import { goTo } from "../../navigation/focus.ts";
import type {
  ChangeNotifier,
  ClockAccess,
  DataAccess,
  OverlayAccess,
  SettingsAccess,
  StateUpdates,
  ToastAccess,
} from "../../parts/parts.ts";
import type { TabId } from "../../state/console-state.ts";
import { createRow, padText } from "../../theme/cells.ts";
import type { StyleRole } from "../../theme/roles.ts";
import { type ListRow, openRowList } from "../row-list.ts";

type SinceParts = ChangeNotifier &
  ClockAccess &
  DataAccess &
  OverlayAccess &
  SettingsAccess &
  StateUpdates &
  ToastAccess;

/** Without a last look: the last day, ms. */
const DAY = 86_400_000;
/** After a shorter absence, the list does not open by itself, ms. */
const ABSENCE = 300_000;
/** After a shorter one nothing is said, ms. */
const MOMENT = 60_000;
/** Largest number of lines, and widths of columns. */
const MOST = 500;
const WIDTHS = { kind: 13, subject: 34, detail: 60 };

/** Lists what has changed since the console was last open here. */
export async function openSince(app: SinceParts): Promise<void> {
  if (!app.liveView.hasRead) return app.showToast(NOT_READ_YET, "problem");
  const { from, report } = await readReport(app);
  showReport(app, from, report);
}

/** Says once, after the start, what has changed since the console was last open. Silent after a short absence. */
export async function announceChanges(app: SinceParts): Promise<void> {
  const { lookedAt } = app.state;
  const away = lookedAt === undefined ? 0 : app.getPresentTime() - lookedAt;
  if (away < MOMENT) return;
  const { from, report } = await readReport(app);
  const age = formatBriefDuration(away);
  const changes = groupPastEvents(report.events).length;
  if (changes === 0) return app.showToast(`nothing has changed since you last looked, ${age} ago`);
  if (away >= ABSENCE && app.overlays.top === undefined) return showReport(app, from, report);
  const what = changes === 1 ? "1 change" : `${changes} changes`;
  app.showToast(`${what} since you last looked, ${age} ago: palette, since`);
}

/** Reads what is not in the snapshot. If etcd does not answer, the outcomes of schedules are left out. */
async function readReport(app: SinceParts): Promise<{ from: number; report: SinceReport }> {
  const until = app.getWallTime();
  const from = Math.min(app.state.lookedAt ?? until - DAY, until);
  const { snapshot, past } = app.liveView;
  const outcomes = await readAllOutcomes(app.context, past?.revision).catch(() => {
    app.showToast("the outcomes of schedules could not be read", "problem");
    return new Map();
  });
  return { from, report: listEventsSince({ snapshot, outcomes }, { from, until }) };
}

function showReport(app: SinceParts, from: number, report: SinceReport): void {
  const groups = groupPastEvents(report.events);
  const wall = app.getWallTime();
  const rows: ListRow[] = groups
    .slice(0, MOST)
    .map((group) => buildRow(app, group, wall, () => list.close()));
  const note =
    report.gaps.length === 0
      ? []
      : [
          `complete only for the last ${formatBriefDuration(wall - report.completeFrom)}: histories are limited`,
        ];
  const more = groups.length > MOST ? [`and ${groups.length - MOST} more`] : [];
  const notes = [...(groups.length === 0 ? ["nothing is recorded"] : []), ...more, ...note];
  const all = [...rows, ...notes.map((text): ListRow => ({ key: text, ...createRow(text, "quiet") }))];
  const list = openRowList(app, {
    title: `since you last looked, ${formatBriefDuration(wall - from)} ago`,
    listRows: () => all,
  });
}

const ROLES: Readonly<Partial<Record<PastEventGroup["kind"], StyleRole>>> = {
  "dead letter": "problem",
  failed: "problem",
  missed: "problem",
  "host gone": "problem",
  recovered: "held",
  drained: "waiting",
};

function buildRow(app: StateUpdates, group: PastEventGroup, wall: number, close: () => void): ListRow {
  const { kind, subject, times, last } = group;
  const target = findNamedRow(subject);
  const age = formatBriefDuration(wall - last.at).padStart(7);
  return {
    key: `${kind} ${subject}`,
    cells: [
      { text: padText(kind, WIDTHS.kind), role: ROLES[kind] },
      { text: padText(cleanToWidth(subject, WIDTHS.subject), WIDTHS.subject) },
      { text: `${String(times).padStart(4)}x ${age} ago  `, role: "quiet" },
      { text: cleanToWidth(last.detail, WIDTHS.detail), role: "quiet" },
    ],
    open:
      target &&
      (() => {
        close();
        goTo(app, target.tab, target.key);
      }),
  };
}

/** Returns the tab and the key of what an event names, as `lock invoices`; undefined if it has no row of its own. */
export function findNamedRow(subject: string): { tab: TabId; key: string } | undefined {
  const [, word = "", name = ""] = /^(lock|resource|host|group|schedule) (.+)$/s.exec(subject) ?? [];
  switch (word) {
    case "lock":
    case "resource":
      return { tab: `${word}s`, key: buildQueueId(word, name) };
    case "host":
    case "group":
    case "schedule":
      return { tab: `${word}s`, key: name };
    default:
      return undefined;
  }
}
