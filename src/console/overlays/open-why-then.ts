import { toSingleKeyRange } from "../../commands/read-snapshot.ts";
import { findNamedQueue } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";
import { OutcomeReader } from "../data/outcome-reader.ts";
import { createSameRowCheck } from "../parts/focus.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { SelectionAccess } from "../parts/parts.ts";
import { openWhy } from "./output.ts";
import { WhyThenOverlay, type WhyThenParts, type WhyThenSubject } from "./why-then-overlay.ts";

type OpenWhyParts = SelectionAccess & WhyThenParts;

/** Asks why the selected schedule or lock did not run at a time. */
export function openWhyThen(app: OpenWhyParts): void {
  const subject = findWhyThenSubject(getChosenSubjects(app)[0]);
  if (subject !== undefined) return openSubject(app, subject);
  app.showToast("why did it not run: select a schedule or a lock", "problem", createSameRowCheck(app));
}

/** Tells why a run waits; of a schedule, or a lock that nobody holds or waits for, why it did not run. */
export function openWhyNowOrThen(app: OpenWhyParts): void {
  const subject = findWhyThenSubject(getChosenSubjects(app)[0]);
  const isPast =
    subject?.kind === "schedule" ||
    (subject?.kind === "lock" && findNamedQueue(app.liveView.snapshot, "lock", subject.name) === undefined);
  if (subject !== undefined && isPast) openSubject(app, subject);
  else openWhy(app);
}

function openSubject(app: WhyThenParts, subject: WhyThenSubject): void {
  const { context } = app;
  const reader =
    subject.kind === "schedule"
      ? new OutcomeReader(context, toSingleKeyRange(context.keys.outcomes(subject.name)), () =>
          app.notifyChange(),
        )
      : undefined;
  app.overlays.open(new WhyThenOverlay(app, subject, reader));
}

function findWhyThenSubject(subject: Subject | undefined): WhyThenSubject | undefined {
  if (subject?.kind === "record") return findWhyThenSubject(subject.about);
  if (subject?.kind === "lock" || subject?.kind === "schedule")
    return { kind: subject.kind, name: subject.name };
  return undefined;
}
