import { buildFacts, type Detail, type DetailContext } from "../../model/detail/detail.ts";
import { buildGroupDetail, findGroupState, spreadOverHosts } from "../../model/detail/group.ts";
import { buildHostDetail, findHostState } from "../../model/detail/host.ts";
import { buildQueueDetail } from "../../model/detail/queue.ts";
import { buildRunDetail } from "../../model/detail/run.ts";
import { buildScheduleDetail } from "../../model/detail/schedule.ts";
import { computeDrainExtent, findDrainsOfTarget } from "../../model/preview/drain-extent.ts";
import {
  describeDrainTarget,
  formatDrainExtent,
  formatInstantSeconds,
} from "../../model/preview/drain-extent-text.ts";
import { findClaim } from "../../model/snapshot/claims.ts";
import { findNamedQueue, type Snapshot } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";
import type { RunnerKey } from "../../observe/runner-liveness.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";

/** The inputs of a detail besides its subject. */
export interface DetailInputs extends DetailContext {
  snapshot: Snapshot;
  /** All values of the row, for subjects without a detail of their own. */
  facts: readonly { label: string; value: string }[];
}

/** Builds the detail of a subject. */
export function buildDetail(subject: Subject, inputs: DetailInputs): Detail {
  return buildOwnDetail(subject, inputs) ?? buildPlainDetail(subject, inputs);
}

/** Builds the detail of a subject that has one of its own and still exists. */
function buildOwnDetail(subject: Subject, inputs: DetailInputs): Detail | undefined {
  const { snapshot, wall } = inputs;
  switch (subject.kind) {
    case "lock":
    case "resource":
      return buildQueueDetail(snapshot, subject.kind, subject.name, inputs);
    case "host": {
      const host = findHostState(snapshot, subject.name, wall);
      return host && buildHostDetail(snapshot, host, inputs);
    }
    case "group": {
      const group = findGroupState(snapshot, subject.name, wall);
      return group && buildGroupDetail(snapshot, group, inputs);
    }
    case "run": {
      const claim = findClaim(snapshot, subject.name);
      return claim && buildRunDetail(snapshot, claim, inputs);
    }
    case "schedule":
      return buildScheduleDetail(snapshot, subject.name, inputs);
    case "drain":
      return buildDrainDetail(subject, inputs);
    case "record":
      return undefined;
  }
}

/** Lists the tickets whose session state a detail shows. */
export function listDetailTickets(subject: Subject, snapshot: Snapshot, wall: number): readonly RunnerKey[] {
  switch (subject.kind) {
    case "lock":
    case "resource": {
      const entries = findNamedQueue(snapshot, subject.kind, subject.name)?.entries ?? [];
      return [...entries.filter(isHolding), ...entries.filter((entry) => !isHolding(entry))];
    }
    case "host":
      return (findHostState(snapshot, subject.name, wall)?.claims ?? []).flatMap(listFirstEntry);
    case "group": {
      const group = findGroupState(snapshot, subject.name, wall);
      return group === undefined ? [] : spreadOverHosts(group.claims).flatMap(listFirstEntry);
    }
    case "run":
      return (findClaim(snapshot, subject.name)?.entries ?? []).flatMap(({ queue, entry }) => [
        entry,
        ...queue.entries.filter(isHolding),
      ]);
    case "schedule":
      return snapshot.executions.get(subject.name) ?? [];
    default:
      return [];
  }
}

function listFirstEntry({ entries: [first] }: { entries: readonly { entry: QueueEntry }[] }): QueueEntry[] {
  return first === undefined ? [] : [first.entry];
}

/** Builds the detail of a drain, with the runs that still hold something there. */
function buildDrainDetail(subject: Subject & { kind: "drain" }, { snapshot, wall }: DetailInputs): Detail {
  const target: DrainTarget = { scope: subject.scope, name: subject.name };
  const [drain] = findDrainsOfTarget(snapshot, target);
  const extent = computeDrainExtent(snapshot, target, wall);
  const left = extent.holders.length;
  const what = describeDrainTarget(target);
  return {
    heading:
      left === 0
        ? `drain of ${what}: drained`
        : `drain of ${what}: no new grants, waiting for ${left} to end`,
    tone: "problem",
    facts: buildFacts([
      ["by", drain?.by],
      ["why", drain?.why],
      ["since", drain && formatInstantSeconds(drain.at)],
      ["ends", drain?.until === undefined ? undefined : formatInstantSeconds(drain.until)],
    ]),
    sections: [{ kind: "lines", title: "runs in its scope", lines: formatDrainExtent(extent, target, wall) }],
  };
}

function buildPlainDetail(subject: Subject, { facts }: DetailInputs): Detail {
  const about = subject.kind === "record" ? subject.about : subject;
  const heading = about === undefined ? "" : `${about.kind} ${about.name}`;
  const [first] = facts;
  return {
    heading: heading || `${first?.label ?? ""} ${first?.value ?? ""}`,
    tone: "plain",
    facts,
    sections: [],
  };
}
