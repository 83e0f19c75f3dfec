import { computeConfigChanges, formatConfigChange } from "../../fleet/config-changes.ts";
import { formatClaimLine } from "../preview/eviction-preview-text.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { buildConfiguration } from "./configuration.ts";
import type { AffectedRun } from "./drain-impact.ts";

/** Number of runs shown one per line. Further runs are only counted. */
const MANY = 8;

/**
 * Formats the runs that a configuration change affects as lines of text. Texts from etcd are not cleaned.
 * @param wall  wall clock, ms since the epoch; undefined leaves out ages and counts, which change as time passes
 */
export function formatAffectedRuns(affected: readonly AffectedRun[], wall: number | undefined): string[] {
  return (["ended", "leaves", "perhaps"] as const).flatMap((fate) => {
    const those = affected.filter((affectedRun) => affectedRun.fate === fate);
    const word = { ended: "ends", leaves: "evicts", perhaps: "may evict" }[fate];
    const lines = those
      .slice(0, MANY)
      .map(({ claim, why }) => `${word.padEnd(9)} ${formatClaimLine(claim, wall)}: ${why}`);
    if (those.length <= MANY) return lines;
    const count = wall === undefined ? "" : `${those.length - MANY} `;
    return [...lines, `${word.padEnd(9)} and ${count}more`];
  });
}

/** Formats the numbers of affected runs: `ends 2 running commands, evicts 1 waiting run`; empty without any. */
export function formatAffectedCount(affected: readonly AffectedRun[]): string {
  const countFate = (fate: AffectedRun["fate"]) =>
    affected.filter((affectedRun) => affectedRun.fate === fate).length;
  const [ended, leaving, perhaps] = [countFate("ended"), countFate("leaves"), countFate("perhaps")];
  return [
    ...(ended > 0 ? [`ends ${pluralize(ended, "running command")}`] : []),
    ...(leaving > 0 ? [`evicts ${pluralize(leaving, "waiting run")}`] : []),
    ...(perhaps > 0 ? [`may evict ${pluralize(perhaps, "waiting run")}`] : []),
  ].join(", ");
}

function pluralize(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * Formats the configuration changes between two reads, one line each. Includes values that were changed and reverted.
 * @param concerns  returns whether to include a name
 */
export function formatConfigChanges(
  then: Pick<Snapshot, "groups" | "resources">,
  now: Pick<Snapshot, "groups" | "resources">,
  concerns: (kind: "group" | "resource", name: string) => boolean,
): string[] {
  const current = buildConfiguration(now);
  const changes = computeConfigChanges(buildConfiguration(then), current).filter(({ kind, name }) =>
    concerns(kind, name),
  );
  const told = new Set(changes.map(({ kind, name }) => `${kind} ${name}`));
  const rewritten = (["group", "resource"] as const).flatMap((kind) => {
    const [before, after] = [getStored(then, kind), getStored(now, kind)];
    const names = [...new Set([...before.keys(), ...after.keys()])];
    return names
      .filter(
        (name) => before.get(name)?.modRevision !== after.get(name)?.modRevision && concerns(kind, name),
      )
      .map((name) => `${kind} ${name}`)
      .filter((what) => !told.has(what))
      .map((what) => `${what} was written again`);
  });
  return [...changes.map((change) => formatConfigChange(change, current.groups)), ...rewritten];
}

function getStored(
  snapshot: Pick<Snapshot, "groups" | "resources">,
  kind: "group" | "resource",
): ReadonlyMap<string, { modRevision: bigint }> {
  return kind === "group" ? snapshot.groups : snapshot.resources;
}
