import type { TimeSpan } from "../../model/insight/forecast.ts";
import {
  buildHostTimeline,
  buildTimeline,
  type TimelineInputs,
  type TimelineTrack,
} from "../../model/insight/timeline.ts";
import { buildQueueId, type Snapshot } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";

/** What a timeline can be about. */
export interface TimelineSubject {
  kind: "lock" | "resource" | "host" | "schedule";
  name: string;
}

/** Returns what the timeline of a row is about; undefined if it has none. */
export function findTimelineSubject(subject: Subject | undefined): TimelineSubject | undefined {
  switch (subject?.kind) {
    case "lock":
    case "resource":
    case "host":
    case "schedule":
      return { kind: subject.kind, name: subject.name };
    case "run":
      return subject.queue;
    case "record":
      return findTimelineSubject(subject.about);
    case "drain":
      return subject.scope === "all" || subject.scope === "group"
        ? undefined
        : { kind: subject.scope, name: subject.name };
    default:
      return undefined;
  }
}

/** Builds the tracks of a subject. Looks only at its own part of the snapshot, which may be large. */
export function buildSubjectTracks(
  { kind, name }: TimelineSubject,
  { snapshot, outcomes }: { snapshot: Snapshot; outcomes: TimelineInputs["outcomes"] },
  span: TimeSpan,
): TimelineTrack[] {
  if (kind === "host") return buildHostTimeline({ snapshot, outcomes }, name, span);
  const { drains, audit, groups } = snapshot;
  const own = {
    drains,
    audit,
    groups,
    queues: kind === "schedule" ? new Map() : pick(snapshot.queues, buildQueueId(kind, name)),
    histories: kind === "lock" ? pick(snapshot.histories, name) : new Map(),
    executions: kind === "schedule" ? pick(snapshot.executions, name) : new Map(),
  };
  const inputs = { snapshot: own, outcomes: kind === "schedule" ? pick(outcomes, name) : new Map() };
  return buildTimeline(inputs, span).filter(({ subject }) => subject === `${kind} ${name}`);
}

function pick<T>(map: ReadonlyMap<string, T>, key: string): Map<string, T> {
  const value = map.get(key);
  return new Map(value === undefined ? [] : [[key, value]]);
}

/** What a timeline of this kind cannot show. @param hasOutcomes  whether the outcomes of schedules are read */
export function describeTimelineGap(kind: TimelineSubject["kind"], hasOutcomes: boolean): string {
  switch (kind) {
    case "lock":
      return "its history has the last 20 runs";
    case "resource":
      return "ended runs of resources are not stored: only those of now";
    case "host":
      return hasOutcomes
        ? "the last 20 runs of each lock, and what schedules keep"
        : "the last 20 runs of each lock; there are too many schedules to read their runs";
    case "schedule":
      return "runs as far as its --keep and --keep-for keep them";
  }
}
