import type { WallTime } from "../../core/base/clock.ts";
import { collectTexts, pluralize } from "../../core/base/text.ts";
import { computeConfigChanges, formatConfigChange } from "../../core/fleet/configuration.ts";
import { buildConfiguration } from "../../site/state/configuration.ts";
import { type AffectedRun, RUN_FATES } from "../../site/state/impact.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { formatClaimLine, formatLimitedList } from "./claims.ts";

/**
 * Formats the runs that a configuration change affects as lines of text. Texts from etcd are not cleaned.
 * @param wall  undefined leaves out ages and counts, which change as time passes
 */
export function formatAffectedRuns(affected: readonly AffectedRun[], wall: WallTime | undefined): string[] {
  return RUN_FATES.flatMap((fate) => {
    const those = affected.filter((affectedRun) => affectedRun.fate === fate);
    const word = { ended: "ends", leaves: "evicts", perhaps: "may evict" }[fate];
    const format = ({ claim, why }: AffectedRun) => `${formatClaimLine(claim, wall)}: ${why}`;
    return formatLimitedList(word, those, wall, format, 9);
  });
}

/** Formats the numbers of affected runs: `ends 2 running commands, evicts 1 waiting run`; empty without any. */
export function formatAffectedCount(affected: readonly AffectedRun[]): string {
  const countFate = (fate: AffectedRun["fate"]) =>
    affected.filter((affectedRun) => affectedRun.fate === fate).length;
  const [ended, leaving, perhaps] = [countFate("ended"), countFate("leaves"), countFate("perhaps")];
  return collectTexts([
    ended > 0 && `ends ${pluralize(ended, "running command")}`,
    leaving > 0 && `evicts ${pluralize(leaving, "waiting run")}`,
    perhaps > 0 && `may evict ${pluralize(perhaps, "waiting run")}`,
  ]).join(", ");
}

/**
 * Formats the configuration changes between two reads, one line each. Includes values that were changed and reverted.
 * @param concerns  returns whether to include a name
 */
export function formatConfigChanges(
  then: Snapshot,
  now: Snapshot,
  concerns: (kind: "group" | "resource", name: string) => boolean,
): string[] {
  const current = buildConfiguration(now);
  const changes = computeConfigChanges(buildConfiguration(then), current).filter(({ kind, name }) =>
    concerns(kind, name),
  );
  const told = new Set(changes.map(({ kind, name }) => `${kind} ${name}`));
  const rewritten = (["group", "resource"] as const).flatMap((kind) => {
    const [before, after] = [then[`${kind}s`], now[`${kind}s`]];
    const isRewritten = (name: string) =>
      before.get(name)?.modRevision !== after.get(name)?.modRevision &&
      concerns(kind, name) &&
      !told.has(`${kind} ${name}`);
    const names = [...new Set([...before.keys(), ...after.keys()])];
    return names.filter(isRewritten).map((name) => `${kind} ${name} was written again`);
  });
  return [...changes.map((change) => formatConfigChange(change, current.groups)), ...rewritten];
}
