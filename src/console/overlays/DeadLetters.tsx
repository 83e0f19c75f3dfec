import { useState } from "react";
import { buildGridSpans } from "../../cli/commands/see/grid.ts";
import { buildDeadLetterTarget } from "../../cli/views/history.ts";
import { DEAD_LETTER_COLUMNS, type DeadLetter, listDeadLetters } from "../../cli/views/schedules.ts";
import { formatShortList } from "../../core/base/text.ts";
import { toActionable } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { Hints } from "../parts/overlays.ts";
import { getCommandById, type RowAction } from "../parts/row-actions.ts";
import { createRow, type RowModel } from "../theme/Row.tsx";
import { openDialog, openTarget } from "./Dialog.tsx";
import { ListFrame, useKeys, useListCursor, useOutcomes, useOverlay } from "./OverlayFrame.tsx";

/** Opens the dead letters of the chosen schedules. If none is chosen, and in the overview, opens those of all schedules. */
export function openDeadLetters(app: ConsoleApp): void {
  const subjects = app.state.tab === "overview" ? [] : getChosenSubjects(app);
  const chosen = subjects.flatMap((subject) => {
    const about = toActionable(subject);
    return about?.kind === "schedule" ? [about.name] : [];
  });
  app.overlays.open(<DeadLetters ids={chosen.length === 0 ? undefined : new Set(chosen)} />);
}

/** Occurrences that were given up: each can be run again or deleted. @param ids  their schedules; undefined: all */
function DeadLetters({ ids }: { ids: ReadonlySet<string> | undefined }) {
  const { app, width, close } = useOverlay(120);
  const { keys } = app.context;
  const [only] = ids ?? [];
  const reader = useOutcomes(
    only !== undefined && ids?.size === 1 ? keys.listOutcomeRanges(only) : [keys.getOutcomesRange()],
    app.liveView.snapshot.dues,
  );
  const letters = listDeadLetters(reader?.outcomes ?? new Map()).filter(({ id }) => ids?.has(id) ?? true);
  const [at, move, setAt] = useListCursor(letters.length);
  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
  const marked = letters.filter((letter) => marks.has(getLetterKey(letter)));
  const chosen = marked.length > 0 ? marked : letters.slice(at, at + 1);
  const act = (id: string) => () => openDialog(app, buildLetterActions(id, chosen, letters));
  const [runAgain, bury] = [act("schedule trigger"), act("schedule bury")];
  const toggle = () => {
    const next = new Set(marks);
    for (const key of letters.slice(at, at + 1).map(getLetterKey)) if (!next.delete(key)) next.add(key);
    setMarks(next);
  };
  const toggleAll = () =>
    setMarks(new Set(marked.length === letters.length ? [] : letters.map(getLetterKey)));
  const showOutput = () => {
    const letter = letters[at];
    if (letter === undefined) return;
    const { title, lines = [] } = buildDeadLetterTarget(letter.id, letter);
    openTarget(app, { title, lines });
  };
  useKeys(
    {
      q: close,
      d: close,
      space: toggle,
      a: toggleAll,
      enter: runAgain,
      r: runAgain,
      b: bury,
      l: showOutput,
    },
    move,
    reader?.hasRead,
  );
  const { signs } = app.theme;
  const table = { columns: DEAD_LETTER_COLUMNS, rows: letters, wall: app.getShownTime() };
  const { head, rows } = buildGridSpans(table, app.theme.createLook(width - 3));
  return (
    <ListFrame
      title={ids === undefined ? "dead letters" : `dead letters of ${formatShortList([...ids], 2)}`}
      head={
        letters.length === 0
          ? [createRow(reader?.obstacle ?? "no dead letters", "quiet")]
          : [{ cells: [{ text: "   " }, ...head] }]
      }
      rows={rows.map(([spans = []], index): RowModel => {
        const isMarked = marked.includes(letters[index] as DeadLetter);
        const mark = isMarked ? ({ text: signs.marked, role: "marked" } as const) : { text: " " };
        return { cells: [{ text: " " }, mark, { text: " " }, ...spans] };
      })}
      cursor={at}
      hints={letters.length === 0 ? [] : LETTER_HINTS}
      width={width}
      onPress={setAt}
    />
  );
}

const LETTER_HINTS: Hints = [
  ["Space", "mark"],
  ["a", "all"],
  ["Enter", "run again"],
  ["b", "bury"],
  ["l", "output"],
];

/** Letters of the same schedule and time run again, or are deleted, together. */
function getLetterKey({ id, scheduled }: DeadLetter): string {
  return `${id} ${scheduled}`;
}

/** Builds the actions that apply a command to some of the dead letters: one for each schedule. */
function buildLetterActions(
  command: string,
  chosen: readonly DeadLetter[],
  all: readonly DeadLetter[],
): RowAction[] {
  return [...Map.groupBy(chosen, ({ id }) => id)].map(([id, letters]) => {
    const isAll = letters.length > 1 && letters.length === all.filter((one) => one.id === id).length;
    const dead = isAll ? ["all"] : [...new Set(letters.map(({ scheduled }) => String(scheduled)))];
    return { command: getCommandById(command), args: [id], flags: { dead }, target: `dead letters of ${id}` };
  });
}
