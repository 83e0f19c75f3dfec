import { formatInstant } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { canonicalHost, groupsOf } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { applies, type Drain } from "../../protocol/drain.ts";
import { hostLiveness, type Liveness, seenText } from "../alive.ts";
import { type Claim, claimsOf, isHolder } from "../claims.ts";
import { livenessOf, type Pulses } from "../explain-text.ts";
import { drainLine } from "../foresight-text.ts";
import type { Picture } from "../picture.ts";
import { sceneOf } from "../tables/scene.ts";
import { auditTable, type Detail, known, recordsAbout } from "./detail.ts";
import { claimTable } from "./run.ts";

/** What a picture knows of a host. */
export interface HostSight {
  /** As hosts are compared. */
  name: string;
  record: HostRecord | undefined;
  claims: readonly Claim[];
  groups: readonly string[];
  drains: readonly Drain[];
}

/** Undefined where nothing ever named the host. @param wall  wall clock, ms since the epoch */
export function hostSight(picture: Picture, host: string, wall: number): HostSight | undefined {
  const name = canonicalHost(host);
  const scene = sceneOf(picture, wall);
  const record = picture.hosts.get(name);
  const claims = claimsOn(picture, new Set([name]));
  const groups = groupsOf(scene.groups, name);
  const drains = scene.drains.filter((drain) => applies(drain, { resources: [], host: name, groups }));
  const isKnown = claims.length + groups.length > 0 || drains.some(({ scope }) => scope === "host");
  return record !== undefined || isKnown ? { name, record, claims, groups, drains } : undefined;
}

/** The host that a claim is on, as hosts are compared; undefined where no ticket of it can be read. */
export function hostOf({ stands }: Claim): string | undefined {
  const host = stands.find(({ place }) => place.ticket !== undefined)?.place.ticket?.host;
  return host === undefined ? undefined : canonicalHost(host);
}

/** Runs on hosts. @param hosts  as hosts are compared */
export function claimsOn(picture: Picture, hosts: ReadonlySet<string>): Claim[] {
  return [...claimsOf(picture).values()].filter((claim) => hosts.has(hostOf(claim) ?? ""));
}

/** Whether a host is there, as far as it and its runners tell. */
export function aliveOn(
  { record, claims }: Pick<HostSight, "record" | "claims">,
  wall: number,
  pulses: Pulses,
) {
  const runners = claims.flatMap(({ stands: [first] }): Liveness[] => {
    const alive =
      first?.place.ticket?.state === "grace" ? undefined : first && livenessOf(first.place, pulses);
    return alive === undefined ? [] : [alive];
  });
  return hostLiveness(record, runners, wall);
}

/** A host: what it has, whether it is there, what runs and waits there, what stops it. */
export function hostDetail(picture: Picture, sight: HostSight, wall: number, pulses: Pulses): Detail {
  const { name, record, claims, groups, drains } = sight;
  const alive = aliveOn(sight, wall, pulses);
  const held = claims.filter(isHolder).length;
  const state = held > 0 ? "busy" : claims.length > 0 ? "waiting" : "idle";
  return {
    heading: `host ${name}: ${drains.length > 0 ? `${state}, drained` : state}`,
    tone: drains.length > 0 ? "problem" : held > 0 ? "held" : "free",
    facts: known([
      ["alive", `${alive.verdict}: ${alive.text}`, alive.verdict === "quiet" ? "problem" : "plain"],
      ["seen", seenFact(record, wall)],
      ["runs", `${held} hold, ${claims.length - held} wait`],
      ["cpu", record?.cpu === undefined ? undefined : String(record.cpu)],
      ["memory", record?.memMb === undefined ? undefined : `${record.memMb} MiB`],
      ["macros", macrosText(record)],
      ["version", record?.version],
      ["groups", groups.join(" ")],
      ...drains.map((drain) => ["drain", drainLine(drain), "problem"] as const),
    ]),
    sections: [
      ...claimTable(claims, pulses, { isOneHost: true, all: `signalbox ls runs --host ${shellWord(name)}` }),
      ...auditTable(recordsAbout(picture.audit, (target) => isAboutHost(target, name))),
    ],
  };
}

function seenFact(record: HostRecord | undefined, wall: number): string {
  const at = record === undefined || record.seenAt <= 0 ? "" : `, about ${formatInstant(record.seenAt)}`;
  return `${seenText(record, wall)}${at}`;
}

/** Whether a record of the audit is about a host. @param name  as hosts are compared */
export function isAboutHost(target: string, name: string): boolean {
  return target.startsWith("host ") && canonicalHost(target.slice("host ".length)) === name;
}

function macrosText(record: HostRecord | undefined): string {
  return Object.entries(record?.macros ?? {})
    .map(([macro, value]) => `${macro}=${value}`)
    .join(" ");
}
