import { findNamedQueue } from "../../site/state/snapshot.ts";
import { toActionable } from "../../site/state/subject.ts";
import { findLastExpected } from "../../site/state/why-then.ts";
import type { ConsoleApp } from "../console-app.ts";
import { openCommand } from "../overlays/Dialog.tsx";
import { openOutput } from "../overlays/output.tsx";
import { chooseSubject, getChosenSubjects } from "../parts/marks.ts";
import { getCommandById } from "../parts/row-actions.ts";

/** Explains why a run waits. For a schedule, or a lock without holders and waiters, explains why it did not run. */
export function openWhy(app: ConsoleApp): void {
  const chosen = toActionable(getChosenSubjects(app)[0]);
  const isPast =
    chosen?.kind === "schedule" ||
    (chosen?.kind === "lock" && findNamedQueue(app.liveView.snapshot, "lock", chosen.name) === undefined);
  if (isPast) return openWhyThen(app);
  const kinds = ["run", "lock", "resource"] as const;
  const subject = chooseSubject(app, kinds, "why: select a lock, a resource or a waiting run");
  if (subject !== undefined) openOutput(app, getCommandById("why"), [subject.name], `why ${subject.name}`);
}

/** Asks for a time, and explains why the selected schedule or lock did not run then. */
export function openWhyThen(app: ConsoleApp): void {
  const refusal = "why did it not run: select a schedule or a lock";
  const subject = chooseSubject(app, ["schedule", "lock"], refusal);
  if (subject === undefined) return;
  const { kind, name } = subject;
  const at = kind === "schedule" ? findLastTime(app, name) : undefined;
  openCommand(app, "why", { args: [name], fixed: 1, flags: { at: at ?? "1h" } });
}

/** Finds the last time, as --at takes it, at which a schedule was expected to run. */
function findLastTime(app: ConsoleApp, id: string): string | undefined {
  const { schedules, calendars } = app.liveView.snapshot;
  const definition = schedules.get(id)?.value;
  const at = definition && findLastExpected({ id, definition, calendars }, app.getWallTime());
  return at === undefined || at < 0 ? undefined : new Date(at).toISOString().replace(/(:00)?\.000Z$/, "Z");
}
