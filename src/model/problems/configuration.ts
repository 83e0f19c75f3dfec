import { formatBriefDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { listGroupNotes } from "../../fleet/group-notes.ts";
import { canonicalizeHost, listGroupHosts } from "../../fleet/groups.ts";
import { HOST_RECORD_INTERVAL } from "../../fleet/host-record.ts";
import { hasEnded } from "../../protocol/drain.ts";
import { isSeenWithin } from "../rows/liveness.ts";
import { buildGroupMembers, type Snapshot } from "../snapshot/snapshot.ts";
import { formatShortList } from "../views/short-list.ts";
import { type Problem, type ProblemInputs, THRESHOLDS } from "./problem.ts";

/** Builds the problem for a key that is not from signalbox. */
export function buildUnknownKeyProblem(key: string, fault: string): Problem {
  const remedy = `if no other program needs it: etcdctl del ${quoteShellWord(key)}`;
  return { kind: "malformed", level: "warning", subject: `key ${key}`, detail: fault, remedy };
}

/** Finds configuration values that cannot be read. */
export function findMalformedConfig({ resources, groups }: Snapshot): Problem[] {
  const listMalformed = (what: string, kept: Snapshot["resources"] | Snapshot["groups"]) =>
    [...kept].flatMap(([name, { fault }]): Problem[] =>
      fault === undefined
        ? []
        : [
            {
              kind: "malformed",
              level: "failure",
              subject: `${what} ${name}`,
              detail: fault,
              remedy: `signalbox ${what} set ${quoteShellWord(name)} …`,
            },
          ],
    );
  return [...listMalformed("resource", resources), ...listMalformed("group", groups)];
}

/** Finds drains that have expired but still exist. */
export function findDrainProblems({ drains }: Snapshot, wall: number): Problem[] {
  return [...drains.values()]
    .filter((drain) => hasEnded(drain, wall))
    .map(({ scope, name, until = wall }) => ({
      kind: "drain-ended",
      level: "warning",
      subject: scope === "all" ? "drain of everything" : `drain of ${scope} ${name}`,
      detail: `it ended by itself ${formatBriefDuration(wall - until)} ago, but was not deleted: it stops nothing`,
      remedy: `signalbox undrain ${scope}${scope === "all" ? "" : ` ${quoteShellWord(name)}`}`,
      action: { command: "undrain", args: scope === "all" ? [scope] : [scope, name] },
    }));
}

/**
 * Finds hosts with tickets but without a recent host record. Without any host record there are no findings: the hosts
 * run a version that does not write records.
 */
export function findHostProblems({ snapshot, wall }: ProblemInputs): Problem[] {
  if (snapshot.hosts.size === 0) return [];
  const silent = new Map<string, number>();
  for (const { ticket } of [...snapshot.queues.values()].flatMap(({ entries }) => entries)) {
    if (ticket === undefined || ticket.enqueuedAt > wall - THRESHOLDS.word) continue;
    const seen = snapshot.hosts.get(canonicalizeHost(ticket.host))?.seenAt ?? 0;
    // A host writes its record together with a claim, at most once per HOST_RECORD_INTERVAL.
    if (ticket.enqueuedAt - seen > HOST_RECORD_INTERVAL + THRESHOLDS.clock)
      silent.set(ticket.host, (silent.get(ticket.host) ?? 0) + 1);
  }
  return [...silent].map(([host, tickets]) => ({
    kind: "host",
    level: "warning",
    subject: `host ${host}`,
    host,
    detail: `it has tickets in queues (${tickets}), but no host record`,
    remedy: "signalbox init on that host checks whether its role may write hosts/",
  }));
}

/** Finds possible mistakes in groups, and group hosts that were not seen lately and have no worker. */
export function findGroupProblems({ snapshot, wall }: ProblemInputs): Problem[] {
  const groups = buildGroupMembers(snapshot);
  const notes = listGroupNotes(groups).map(
    (detail): Problem => ({
      kind: "group",
      level: "warning",
      subject: "groups",
      detail,
      remedy: "signalbox group list",
    }),
  );
  const working = new Set(
    [...snapshot.workers.values()].map(({ value }) => value && canonicalizeHost(value.host)),
  );
  const unseen = [...groups.keys()].flatMap((group): Problem[] => {
    const missing = listGroupHosts(groups, group).filter(
      (host) =>
        !working.has(canonicalizeHost(host)) &&
        !isSeenWithin(snapshot.hosts.get(canonicalizeHost(host)), THRESHOLDS.host, wall),
    );
    if (missing.length === 0) return [];
    return [
      {
        kind: "host",
        level: "warning",
        subject: `group ${group}`,
        detail: `not seen for ${formatBriefDuration(THRESHOLDS.host)}: ${formatShortList(missing, 3)}`,
        remedy: `is cron or a worker running there? Or take them out: signalbox group remove ${quoteShellWord(group)} HOST`,
      },
    ];
  });
  return [...notes, ...unseen];
}
