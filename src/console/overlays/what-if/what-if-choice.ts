import {
  predictDrain,
  predictReset,
  predictTotal,
  type WhatIfReport,
} from "../../../model/insight/what-if.ts";
import { findResetTargets } from "../../../model/preview/reset-targets.ts";
import { buildClaims } from "../../../model/snapshot/claims.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { Subject } from "../../../model/views/view.ts";
import { buildEditAction } from "../../actions/commands/configuration-actions.ts";
import { buildRowAction, type RowActionResult } from "../../actions/commands/row-action.ts";

/** What a change can be about. */
export interface WhatIfSubject {
  kind: "lock" | "resource" | "host" | "group";
  name: string;
}

/** A change that can be tried out. */
export type WhatIfChange = "drain" | "reset" | "total";

/** Returns what a row's changes are about; undefined if there are none. */
export function findWhatIfSubject(subject: Subject | undefined): WhatIfSubject | undefined {
  switch (subject?.kind) {
    case "lock":
    case "resource":
    case "host":
    case "group":
      return { kind: subject.kind, name: subject.name };
    case "run":
      return subject.queue;
    case "record":
      return findWhatIfSubject(subject.about);
    default:
      return undefined;
  }
}

/** Lists the changes that are possible for a subject. */
export function listWhatIfChanges({ kind }: WhatIfSubject): readonly WhatIfChange[] {
  if (kind === "resource") return ["drain", "reset", "total"];
  return kind === "lock" ? ["drain", "reset"] : ["drain"];
}

/**
 * Predicts the effect of a change.
 * @param total  as typed
 * @returns a text if the change is not complete or not possible
 */
export function predictChange(
  snapshot: Snapshot,
  { kind, name }: WhatIfSubject,
  { change, total, by, wall }: { change: WhatIfChange; total: string; by: string; wall: number },
): WhatIfReport | string {
  if (change === "drain") return predictDrain(snapshot, { scope: kind, name }, { by, wall });
  if (change === "total")
    return /^[1-9]\d{0,14}$/.test(total)
      ? predictTotal(snapshot, { resource: name, total: Number(total) }, wall)
      : "type the new total, a whole number of 1 or more";
  if (kind !== "lock" && kind !== "resource") return "only locks and resources can be reset";
  const claims = buildClaims(snapshot);
  const runs = new Set(findResetTargets(snapshot, kind, name).map(({ run }) => run));
  if (runs.size === 0) return `nobody holds ${kind} ${name}`;
  return predictReset(
    snapshot,
    [...runs].flatMap((run) => claims.get(run) ?? []),
    wall,
  );
}

/** Builds the action whose dialog makes the change, with the values that were tried out. */
export function buildChangeAction(
  snapshot: Snapshot,
  subject: WhatIfSubject,
  change: WhatIfChange,
  total: string,
): RowActionResult {
  if (change !== "total") return buildRowAction(change, subject, snapshot);
  const action = buildEditAction(subject, snapshot);
  return "reason" in action ? action : { ...action, args: [subject.name, total] };
}
