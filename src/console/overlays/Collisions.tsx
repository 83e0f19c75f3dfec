import { useMemo } from "react";
import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration, formatDuration, formatInstant } from "../../base/duration.ts";
import { formatShortList } from "../../base/text.ts";
import type { SpreadSuggestion } from "../../state/collisions.ts";
import { type CollisionReport, findAllCollisions, selectCollisions } from "../../state/collisions.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { buildEditAction, findChangeObstacle } from "../parts/row-actions.ts";
import { clamp, computeWindowTop } from "../state/cursor.ts";
import { createRow, type RowModel } from "../theme/Row.tsx";
import { openDialog } from "./Dialog.tsx";
import { getChord, OverlayFrame, useKeys, useListCursor, useOutcomes, useOverlay } from "./OverlayFrame.tsx";

const DAY = 86_400_000;
/** Interval at which the collisions are computed again as time passes, ms. */
const STEP = 60_000;
/** Maximum number of schedules that are compared. With more, a frame would take too long. */
const MOST_SCHEDULES = 2_000;

/**
 * Shows which schedules compete in the next 24 hours, and suggests other minutes.
 * @param ids  their collisions come first
 */
function Collisions({ ids }: { ids: ReadonlySet<string> }) {
  const { app, width, room, close } = useOverlay(110);
  const { snapshot } = app.liveView;
  const { schedules, dues, resources, calendars } = snapshot;
  const isTooMany = schedules.size > MOST_SCHEDULES;
  const reader = useOutcomes(isTooMany ? undefined : [app.context.keys.getOutcomesRange()], dues);
  const from = Math.floor(app.getWallTime() / STEP) * STEP;
  const outcomes = reader?.outcomes;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it takes only these parts of the snapshot
  const found = useMemo(() => {
    if (outcomes === undefined) return undefined;
    const { report, suggestions } = findAllCollisions(snapshot, outcomes, { from, until: from + DAY });
    const [own, others] = [true, false].map((isOwn) => suggestions.filter(({ id }) => ids.has(id) === isOwn));
    return { report, suggestions: [...(own ?? []), ...(others ?? [])] };
  }, [schedules, dues, resources, calendars, outcomes, from, ids]);
  const isKnown = found !== undefined && reader?.obstacle === undefined;
  const suggestions = isKnown ? found.suggestions : [];
  const [cursor, move] = useListCursor(suggestions.length);
  /** Opens the form of the schedule with the suggested value. Nothing changes until it is confirmed there. */
  const openSuggestion = () => {
    const suggestion = suggestions[cursor];
    if (suggestion === undefined) return;
    const edit = buildEditAction({ kind: "schedule", name: suggestion.id }, snapshot);
    if (findChangeObstacle(app) === undefined && "command" in edit) close();
    const { flag, value, cron } = suggestion;
    const flags = cron === undefined ? { [flag]: formatDuration(value) } : { cron };
    openDialog(app, ["reason" in edit ? edit : { ...edit, flags: { ...edit.flags, ...flags } }]);
  };
  useKeys({ q: close, enter: openSuggestion }, (event) => move(getChord(event)));
  const texts = suggestions.map((one) => describeSuggestion(one, schedules.get(one.id)?.value?.cron));
  const lines = isKnown
    ? [true, false].flatMap((isOwn) => describeCollisions(selectCollisions(found.report, ids, isOwn)))
    : [];
  const buildRows = (): RowModel[] => {
    if (isTooMany)
      return [
        createRow(`there are more than ${MOST_SCHEDULES} schedules:`),
        createRow("run signalbox schedule lint --collisions in a shell"),
      ];
    if (!isKnown) return [createRow(reader?.obstacle ?? "", "quiet")];
    if (lines.length === 0) return [createRow("no schedules compete")];
    return buildCollisionRows(lines, texts, cursor, { width, height: room.height });
  };
  return (
    <OverlayFrame
      title="collisions in the next 24 hours"
      rows={buildRows()}
      hints={[
        suggestions.length > 0 && ["↑↓", "suggestion"],
        suggestions.length > 0 && ["Enter", "edit the schedule"],
      ]}
      width={width}
    />
  );
}

/** Opens the collisions of all schedules. Those of the chosen schedules come first. */
export function openCollisions(app: ConsoleApp): void {
  const chosen = getChosenSubjects(app).filter(({ kind }) => kind === "schedule");
  app.overlays.open(<Collisions ids={new Set(chosen.map(({ name }) => name))} />);
}

/** Number of names in a line. */
const SHORT = 4;

/** Describes the collisions, one line each. The lines are not cleaned. */
function describeCollisions({ starts, leases, overlaps }: CollisionReport): string[] {
  return [
    ...starts.map(
      ({ ids, minutes, first }) =>
        `same minute: ${formatShortList(ids, SHORT)} (${minutes}x, first ${formatInstant(first)})`,
    ),
    ...leases.map(
      ({ resource, peak, total, times, first, ids }) =>
        `resource ${resource}: ${peak} of ${total} units (${times}x, first ${formatInstant(first)}): ${formatShortList(ids, SHORT)}`,
    ),
    ...overlaps.map(({ earlier, later, lock, times, first, longest }) => {
      const by = lock === undefined ? "its own overlap rule" : `lock ${lock}`;
      return `${earlier} has not ended when ${later} starts, up to ${formatBriefDuration(longest)} (${times}x, first ${formatInstant(first)}; excluded by ${by})`;
    }),
  ];
}

/** Describes what a suggestion would change. The text is not cleaned. */
function describeSuggestion(
  { id, flag, value, cron }: SpreadSuggestion,
  present: string | readonly string[] | undefined,
): string {
  return cron === undefined
    ? `${id}: ${flag} ${formatBriefDuration(value)}`
    : `${id}: cron ${present ?? ""} becomes ${cron}`;
}

/** Builds the rows: the collisions, then the suggestions with the cursor on one. */
function buildCollisionRows(
  lines: readonly string[],
  suggestions: readonly string[],
  cursor: number,
  { width, height }: { width: number; height: number },
): RowModel[] {
  const list = clamp(Math.ceil((height - 3) / 2), 1, suggestions.length);
  const room = Math.max(1, height - list - 3);
  const top = computeWindowTop(cursor, suggestions.length, list);
  const left = lines.length - room;
  const shown =
    left > 0
      ? [...lines.slice(0, room - 1), `and ${left + 1} more: see signalbox schedule lint --collisions`]
      : lines;
  return [
    ...shown.map((line) => createRow(cleanToWidth(line, width))),
    createRow(""),
    createRow(suggestions.length === 0 ? "no other minute helps" : "to spread them", "heading"),
    ...suggestions.slice(top, top + list).map((text, at): RowModel => {
      const isHere = top + at === cursor;
      return createRow(cleanToWidth(`${isHere ? ">" : " "} ${text}`, width), isHere ? "key" : "plain");
    }),
  ];
}
