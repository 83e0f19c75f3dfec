import { claimsOf } from "../../model/claims.ts";
import type { Detail } from "../../model/detail/detail.ts";
import { groupDetail, groupSight, spreadOverHosts } from "../../model/detail/group.ts";
import { hostDetail, hostSight } from "../../model/detail/host.ts";
import { queueDetail } from "../../model/detail/queue.ts";
import { runDetail } from "../../model/detail/run.ts";
import { scheduleDetail } from "../../model/detail/schedule.ts";
import type { Pulses } from "../../model/explain-text.ts";
import { type Picture, queueIn } from "../../model/picture.ts";
import { drainsOf, extentOf } from "../../model/scope.ts";
import { extentLines, instantText } from "../../model/scope-text.ts";
import type { Subject } from "../../model/tables/view.ts";
import { holds } from "../../protocol/admission.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import type { Place } from "../../protocol/ticket.ts";

/** What a detail is made of beside what it is about. */
export interface Behind {
  picture: Picture;
  /** Wall clock, ms since the epoch. */
  wall: number;
  pulses: Pulses;
  /** All that the row says, for what has no detail of its own. */
  facts: readonly { label: string; value: string }[];
}

/** Everything about what is selected. */
export function detailOf(subject: Subject, behind: Behind): Detail {
  const { picture, wall, pulses } = behind;
  switch (subject.kind) {
    case "lock":
    case "resource":
      return queueDetail(picture, subject.kind, subject.name, { wall, pulses });
    case "host": {
      const sight = hostSight(picture, subject.name, wall);
      return sight === undefined ? plain(subject, behind) : hostDetail(picture, sight, wall, pulses);
    }
    case "group": {
      const sight = groupSight(picture, subject.name, wall);
      return sight === undefined ? plain(subject, behind) : groupDetail(picture, sight, wall, pulses);
    }
    case "run": {
      const claim = claimsOf(picture).get(subject.name);
      return claim === undefined ? plain(subject, behind) : runDetail(picture, claim, { wall, pulses });
    }
    case "schedule":
      return scheduleDetail(picture, subject.name, { wall, pulses }) ?? plain(subject, behind);
    case "drain":
      return drainDetail(subject, behind);
    case "record":
      return plain(subject, behind);
  }
}

/** The tickets whose runners' state a detail shows. */
export function placesOf(
  subject: Subject,
  picture: Picture,
  wall: number,
): readonly Pick<Place, "session">[] {
  switch (subject.kind) {
    case "lock":
    case "resource": {
      const places = queueIn(picture, subject.kind, subject.name)?.places ?? [];
      return [...places.filter(holds), ...places.filter((place) => !holds(place))];
    }
    case "host":
      return (hostSight(picture, subject.name, wall)?.claims ?? []).flatMap(firstPlace);
    case "group": {
      const sight = groupSight(picture, subject.name, wall);
      return sight === undefined ? [] : spreadOverHosts(sight.claims).flatMap(firstPlace);
    }
    case "run":
      return (claimsOf(picture).get(subject.name)?.stands ?? []).flatMap(({ queue, place }) => [
        place,
        ...queue.places.filter(holds),
      ]);
    case "schedule":
      return picture.executions.get(subject.name) ?? [];
    default:
      return [];
  }
}

function firstPlace({ stands: [first] }: { stands: readonly { place: Place }[] }): Place[] {
  return first === undefined ? [] : [first.place];
}

/** A drain, and how far it has come: nothing new starts, and who is still there. */
function drainDetail(subject: Subject & { kind: "drain" }, { picture, wall }: Behind): Detail {
  const target: DrainTarget = { scope: subject.scope, name: subject.name };
  const [drain] = drainsOf(picture, target);
  const extent = extentOf(picture, target, wall);
  const left = extent.holders.length;
  const what = subject.scope === "all" ? "everything" : `${subject.scope} ${subject.name}`;
  const facts = [
    { label: "by", value: drain?.by ?? "" },
    { label: "why", value: drain?.why ?? "" },
    { label: "since", value: drain === undefined ? "" : instantText(drain.at) },
    { label: "ends", value: drain?.until === undefined ? "" : instantText(drain.until) },
  ];
  return {
    heading:
      left === 0
        ? `drain of ${what}: drained`
        : `drain of ${what}: no new grants, waiting for ${left} to end`,
    tone: "problem",
    facts: facts.filter(({ value }) => value !== ""),
    sections: [{ kind: "lines", title: "who is in it", lines: extentLines(extent, target, wall) }],
  };
}

function plain(subject: Subject, { facts }: Behind): Detail {
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
