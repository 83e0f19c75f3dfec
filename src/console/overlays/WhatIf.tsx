import { useLayoutEffect, useMemo, useState } from "react";
import { formatWhatIf } from "../../cli/views/what-if.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import { formatOperator } from "../../site/operate/operator-action.ts";
import { buildClaims, findResetTargets } from "../../site/state/claims.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import {
  computeDrainEffect,
  computeResetEffect,
  computeTotalEffect,
  type DirectEffect,
  predictChange,
} from "../../site/state/what-if.ts";
import type { ConsoleApp } from "../console-app.ts";
import { chooseSubject, toQueueSubject } from "../parts/marks.ts";
import {
  buildEditAction,
  buildRowAction,
  findChangeObstacle,
  type RowActionResult,
} from "../parts/row-actions.ts";
import { clamp } from "../state/cursor.ts";
import { BLANK_ROW, createRow, type RowCell, type RowModel, wrapRows } from "../theme/Row.tsx";
import { openDialog } from "./Dialog.tsx";
import { OverlayFrame, useField, useKeys, useOverlay, useScroll } from "./OverlayFrame.tsx";

/** Shows what a drain, a reset or a new total would do now, without doing it. */
function WhatIf({ subject }: { subject: WhatIfSubject }) {
  const { app, width, room, close } = useOverlay(110);
  const { snapshot } = app.liveView;
  const { kind, name } = subject;
  const changes = listWhatIfChanges(subject);
  const [change, setChange] = useState<WhatIfChange>("drain");
  const total = useField(kind === "resource" ? (snapshot.resources.get(name)?.value?.total ?? "") : "");
  const wall = app.getShownTime();
  const second = Math.floor(wall / 1000);
  // biome-ignore lint/correctness/useExhaustiveDependencies: ages in the text change every second, not with every frame
  const { lines, isKnown } = useMemo(() => {
    const by = formatOperator(app.context.operator);
    const effect = computeEffect(snapshot, subject, { change, total: total.text, by, wall });
    const isKnown = typeof effect !== "string";
    const texts = isKnown ? formatWhatIf(predictChange(snapshot, effect, wall), wall) : [effect];
    return { lines: texts.map((line) => clean(line)), isKnown };
  }, [app, snapshot, subject, change, total.text, second]);
  const selectChange = (by: 1 | -1) => {
    const at = (changes.indexOf(change) + by + changes.length) % changes.length;
    setChange(changes[at] ?? "drain");
  };
  /** Opens the dialog of the change, in which it is previewed and confirmed. */
  const openChange = () => {
    if (!isKnown) return;
    const action = buildChangeAction(snapshot, subject, change, total.text);
    if (findChangeObstacle(app) === undefined && "command" in action) close();
    openDialog(app, [action]);
  };
  const rows = wrapRows(app.theme, lines, width);
  const height = clamp(rows.length, 1, room.height - 4);
  const [top, scroll, setTop] = useScroll(rows.length, height);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question
  useLayoutEffect(() => setTop(0), [change, total.text]);
  useKeys(
    { enter: openChange, tab: () => selectChange(1), "shift+tab": () => selectChange(-1) },
    (chord, event) => (change === "total" && total.edit(event)) || scroll(chord),
  );
  return (
    <OverlayFrame
      title={`what if: ${change} ${kind} ${name}`}
      rows={[
        buildChoiceRow(changes, change, total.buildCells(16)),
        BLANK_ROW,
        ...rows.slice(top, top + height),
        BLANK_ROW,
        createRow(cleanToWidth(ASSUMPTION_NOTE, width), "quiet"),
      ]}
      hints={[
        rows.length > height && ["↑↓", "scroll"],
        changes.length > 1 && ["Tab", "other change"],
        isKnown && ["Enter", "open its dialog"],
      ]}
      width={width}
    />
  );
}

function buildChoiceRow(
  changes: readonly WhatIfChange[],
  chosen: WhatIfChange,
  total: readonly RowCell[],
): RowModel {
  const cells = changes.flatMap((change): RowCell[] => {
    const isChosen = change === chosen;
    const text = isChosen ? `[${change}]` : ` ${change} `;
    return [{ text, role: isChosen ? "key" : "quiet" }, { text: " " }];
  });
  return { cells: [...cells, { text: " " }, ...(chosen === "total" ? total : [])] };
}

const ASSUMPTION_NOTE = "if no other run joins or leaves; nothing is changed here";

/** Opens what-if for the selected lock, resource, host or group. */
export function openWhatIf(app: ConsoleApp): void {
  const kinds = ["lock", "resource", "host", "group"] as const;
  const refusal = "what if: select a lock, a resource, a host or a group";
  const subject = chooseSubject(app, kinds, refusal, toQueueSubject);
  if (subject !== undefined) app.overlays.open(<WhatIf subject={subject} />);
}

/** The subject of a change. */
interface WhatIfSubject {
  kind: "lock" | "resource" | "host" | "group";
  name: string;
}

/** A change whose effect can be computed. */
type WhatIfChange = "drain" | "reset" | "total";

function listWhatIfChanges({ kind }: WhatIfSubject): readonly WhatIfChange[] {
  if (kind === "resource") return ["drain", "reset", "total"];
  return kind === "lock" ? ["drain", "reset"] : ["drain"];
}

/**
 * Computes what a change does.
 * @param total  as typed
 * @returns a text if the change is not complete or not possible
 */
function computeEffect(
  snapshot: Snapshot,
  { kind, name }: WhatIfSubject,
  { change, total, by, wall }: { change: WhatIfChange; total: string; by: string; wall: WallTime },
): DirectEffect | string {
  if (change === "drain") return computeDrainEffect(snapshot, { scope: kind, name }, { by, wall });
  if (change === "total")
    return /^[1-9]\d{0,14}$/.test(total)
      ? computeTotalEffect(snapshot, { resource: name, total: Number(total) }, wall)
      : "type the new total, a whole number of 1 or more";
  if (kind !== "lock" && kind !== "resource") return "only locks and resources can be reset";
  const claims = buildClaims(snapshot);
  const runs = new Set(findResetTargets(snapshot, kind, name).map(({ run }) => run));
  if (runs.size === 0) return `nobody holds ${kind} ${name}`;
  return computeResetEffect(
    snapshot,
    [...runs].flatMap((run) => claims.get(run) ?? []),
  );
}

/** Builds the action whose dialog makes the change, with the values that were tried. */
function buildChangeAction(
  snapshot: Snapshot,
  subject: WhatIfSubject,
  change: WhatIfChange,
  total: string,
): RowActionResult {
  if (change !== "total") return buildRowAction(change, subject, snapshot);
  const action = buildEditAction(subject, snapshot);
  return "reason" in action ? action : { ...action, args: [subject.name, total] };
}
