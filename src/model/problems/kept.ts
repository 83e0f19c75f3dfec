import { briefDuration } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { groupNotes } from "../../fleet/group-notes.ts";
import { canonicalHost, hostsOf } from "../../fleet/groups.ts";
import { SEEN_EVERY } from "../../fleet/host-record.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { seenWithin } from "../alive.ts";
import { membersOf, type Picture } from "../picture.ts";
import type { Look, Problem } from "./problem.ts";

/** A key that is none of ours. */
export function strange(key: string, fault: string): Problem {
  const remedy = `if nobody else needs it: etcdctl del ${shellWord(key)}`;
  return { kind: "malformed", level: "warning", subject: `key ${key}`, detail: fault, remedy };
}

/** What operators keep and cannot be read. */
export function keptProblems({ resources, groups }: Picture): Problem[] {
  const bad = (what: string, kept: Picture["resources"] | Picture["groups"]) =>
    [...kept].flatMap(([name, { fault }]): Problem[] =>
      fault === undefined
        ? []
        : [
            {
              ...{ kind: "malformed", level: "failure", subject: `${what} ${name}`, detail: fault },
              remedy: `signalbox ${what} set ${shellWord(name)} …`,
            },
          ],
    );
  return [...bad("resource", resources), ...bad("group", groups)];
}

/** Drains that are over. */
export function drainProblems({ drains }: Picture, wall: number): Problem[] {
  return [...drains.values()]
    .filter((drain) => hasEnded(drain, wall))
    .map(({ scope, name, until = wall }) => ({
      ...{ kind: "drain-ended", level: "warning" },
      subject: scope === "all" ? "drain of everything" : `drain of ${scope} ${name}`,
      detail: `it ended by itself ${briefDuration(wall - until)} ago, and is still there: it stops nothing`,
      remedy: `signalbox undrain ${scope}${scope === "all" ? "" : ` ${shellWord(name)}`}`,
    }));
}

/**
 * Hosts that have claimed something, and left no word that they are there. Without any word at all nothing can be told:
 * they run a version that leaves none.
 */
export function hostProblems({ picture, wall, patience }: Look): Problem[] {
  if (picture.hosts.size === 0) return [];
  const silent = new Map<string, number>();
  for (const { ticket } of [...picture.queues.values()].flatMap(({ places }) => places)) {
    if (ticket === undefined || ticket.enqueuedAt > wall - patience.word) continue;
    const seen = picture.hosts.get(canonicalHost(ticket.host))?.seenAt ?? 0;
    // A word goes along with each claim, but not more often than every few minutes.
    if (ticket.enqueuedAt - seen > SEEN_EVERY + patience.clock)
      silent.set(ticket.host, (silent.get(ticket.host) ?? 0) + 1);
  }
  return [...silent].map(([host, tickets]) => ({
    ...{ kind: "host", level: "warning", subject: `host ${host}`, host },
    detail: `it stands in queues (tickets: ${tickets}), but left no word that it is there`,
    remedy: "signalbox init there says whether its role may write hosts/",
  }));
}

/** Groups that may not be meant so, and their hosts that nobody has seen. */
export function groupProblems({ picture, wall, patience }: Look): Problem[] {
  const groups = membersOf(picture);
  const notes = groupNotes(groups).map(
    (detail): Problem => ({
      ...{ kind: "group", level: "warning", subject: "groups", detail },
      remedy: "signalbox group list",
    }),
  );
  const unseen = [...groups.keys()].flatMap((group): Problem[] => {
    const missing = hostsOf(groups, group).filter(
      (host) => !seenWithin(picture.hosts.get(canonicalHost(host)), patience.host, wall),
    );
    if (missing.length === 0) return [];
    const names =
      missing.slice(0, 3).join(", ") + (missing.length > 3 ? ` and ${missing.length - 3} more` : "");
    return [
      {
        ...{ kind: "host", level: "warning", subject: `group ${group}` },
        detail: `not seen for ${briefDuration(patience.host)}: ${names}`,
        remedy: `is cron running there? Or take them out: signalbox group remove ${shellWord(group)} HOST`,
      },
    ];
  });
  return [...notes, ...unseen];
}
