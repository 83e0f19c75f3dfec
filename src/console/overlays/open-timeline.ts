import { toSingleKeyRange } from "../../commands/read-snapshot.ts";
import { OutcomeReader } from "../data/outcome-reader.ts";
import { createSameRowCheck } from "../parts/focus.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { SelectionAccess } from "../parts/parts.ts";
import { TimelineOverlay, type TimelineParts } from "./timeline-overlay.ts";
import { findTimelineSubject } from "./timeline-subject.ts";

/** Most schedules whose outcomes are read for the timeline of a host. */
const MOST_SCHEDULES = 1_000;

/** Opens the timeline of the selected lock, resource, host or schedule. */
export function openTimeline(app: SelectionAccess & TimelineParts): void {
  const [chosen] = getChosenSubjects(app);
  const subject = findTimelineSubject(chosen);
  if (subject === undefined)
    return app.showToast(
      "timeline: select a lock, a resource, a host or a schedule",
      "problem",
      createSameRowCheck(app),
    );
  const { context } = app;
  const { kind, name } = subject;
  const readsAll = kind === "host" && app.liveView.snapshot.schedules.size <= MOST_SCHEDULES;
  const ranges = {
    schedule: () => toSingleKeyRange(context.keys.outcomes(name)),
    host: () => context.keys.getOutcomesRange(),
  };
  const range = kind === "schedule" || (kind === "host" && readsAll) ? ranges[kind]() : undefined;
  const reader = range && new OutcomeReader(context, range, () => app.notifyChange());
  app.overlays.open(new TimelineOverlay(app, subject, reader));
}
