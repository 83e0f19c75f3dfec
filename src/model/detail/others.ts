import { briefDuration, formatInstant } from "../../base/duration.ts";
import { canonicalHost, groupsOf, hostsOf } from "../../fleet/groups.ts";
import { applies, hasEnded } from "../../protocol/drain.ts";
import { seenAgo } from "../alive.ts";
import { type Claim, claimsOf, whoIs } from "../claims.ts";
import { explain } from "../explain.ts";
import { explanationLines, type Pulses } from "../explain-text.ts";
import { membersOf } from "../foresee.ts";
import { drainLine } from "../foresight-text.ts";
import type { Picture } from "../picture.ts";
import { claimState, tokenOf } from "../tables/runs.ts";
import { auditTable, type Detail, known, someOf } from "./detail.ts";
import { holderFacts } from "./queue.ts";

/** A run: everything it holds or waits for, and why it waits. @param wall  ms since the epoch */
export function runDetail(picture: Picture, claim: Claim, wall: number, pulses: Pulses): Detail {
  const [first] = claim.stands;
  const [answer, ...reasons] = explanationLines(explain(picture, claim, wall), wall, pulses);
  return {
    heading: `run ${claim.run}: ${claimState(claim)}`,
    facts: [
      ...(first === undefined ? [] : holderFacts(picture, first.place, wall, pulses)).filter(
        ([label]) => label !== "run" && label !== "token",
      ),
      ["token", String(tokenOf(claim))],
      ["why", answer ?? ""],
      ...reasons.map((line) => ["", line] as const),
    ],
    tables: someOf(
      "tickets",
      ["KIND", "NAME", "UNITS", "STATE", "KEY"],
      claim.stands.map(({ queue, place }) => [
        ...[
          queue.kind,
          queue.name,
          String(place.ticket?.count ?? "?"),
          place.ticket?.state ?? "malformed",
          place.key,
        ],
      ]),
    ),
  };
}

/** A host: what it has, when it was seen, what runs and waits there, what stops it. */
export function hostDetail(picture: Picture, host: string, wall: number): Detail {
  const name = canonicalHost(host);
  const record = picture.hosts.get(name);
  const groups = groupsOf(membersOf(picture), name);
  const claims = [...claimsOf(picture).values()].filter(({ stands }) =>
    stands.some(({ place }) => place.ticket !== undefined && canonicalHost(place.ticket.host) === name),
  );
  const reach = { resources: [], host: name, groups };
  const drains = [...picture.drains.values()].filter(
    (drain) => !hasEnded(drain, wall) && applies(drain, reach),
  );
  const seen = seenAgo(record, wall);
  const macros = Object.entries(record?.macros ?? {}).map(([macro, value]) => `${macro}=${value}`);
  return {
    heading: `host ${name}: ${drains.length > 0 ? "drained" : claims.length > 0 ? "busy" : "free"}`,
    facts: known([
      [
        "seen",
        seen === undefined ? "never" : `${briefDuration(seen)} ago, at ${formatInstant(record?.seenAt ?? 0)}`,
      ],
      ["cpu", record?.cpu === undefined ? undefined : String(record.cpu)],
      ["memory", record?.memMb === undefined ? undefined : `${record.memMb} MiB`],
      ["macros", macros.join(" ")],
      ["version", record?.version],
      ["groups", groups.join(" ")],
      ...drains.map((drain) => ["drain", drainLine(drain)] as const),
    ]),
    tables: [...claimTable(claims), ...auditTable(picture.audit, (target) => target === `host ${name}`)],
  };
}

function claimTable(claims: readonly Claim[]) {
  const rows = claims.map((claim) => [
    ...[claim.run, claim.stands[0] === undefined ? "" : whoIs(claim.stands[0].place), claimState(claim)],
    claim.stands.map(({ queue, place }) => standText(queue.kind, queue.name, place.ticket?.count)).join(" "),
  ]);
  return someOf("runs", ["RUN", "WHO", "STATE", "HOLDS OR WAITS FOR"], rows);
}

function standText(kind: string, name: string, count: number | undefined): string {
  return kind === "lock" ? name : `${name}=${count ?? "?"}`;
}

/** A group: its members, the hosts that makes, which of them were seen, what stops them. */
export function groupDetail(picture: Picture, name: string, wall: number): Detail {
  const groups = membersOf(picture);
  const drains = [...picture.drains.values()].filter(
    ({ scope, name: of }) => scope === "all" || (scope === "group" && of === name),
  );
  const parents = [...groups].filter(([, members]) => members.includes(name)).map(([parent]) => parent);
  const rows = hostsOf(groups, name).map((host) => {
    const seen = seenAgo(picture.hosts.get(canonicalHost(host)), wall);
    return [host, seen === undefined ? "never" : `${briefDuration(seen)} ago`];
  });
  return {
    heading: `group ${name}: ${rows.length} hosts`,
    facts: known([
      ["members", (groups.get(name) ?? []).join(" ")],
      ["malformed", picture.groups.get(name)?.fault],
      ["part of", parents.join(" ")],
      ...drains
        .filter((drain) => !hasEnded(drain, wall))
        .map((drain) => ["drain", drainLine(drain)] as const),
    ]),
    tables: [
      ...someOf("hosts", ["HOST", "SEEN"], rows),
      ...auditTable(picture.audit, (target) => target === `group ${name}`),
    ],
  };
}
