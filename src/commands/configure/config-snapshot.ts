import { evaluateUnits } from "../../fleet/arithmetic.ts";
import type { TotalCheck } from "../../fleet/config-document-parser.ts";
import { createMacros } from "../../fleet/macros.ts";
import { buildHostMacros } from "../../model/config-impact/totals.ts";
import type { Collection, Snapshot } from "../../model/snapshot/snapshot.ts";
import type { ConfigKeyRevision } from "../../operate/configure.ts";
import { QUEUE_COLLECTIONS } from "../read-snapshot.ts";
import type { CommandContext } from "../store-command.ts";

/** The collections of the configuration. */
export const CONFIG_COLLECTIONS: readonly Collection[] = ["groups", "resourceConfigs"];

/** The collections that decide which runs a configuration change affects. */
export const IMPACT_COLLECTIONS: readonly Collection[] = [...QUEUE_COLLECTIONS, "hosts"];

/** Lists all configuration keys in a snapshot with their revisions, including malformed ones. */
export function listSeenKeys({
  groups,
  resources,
}: Pick<Snapshot, "groups" | "resources">): ConfigKeyRevision[] {
  const toSeenKeys = (kind: ConfigKeyRevision["kind"], kept: ReadonlyMap<string, { modRevision: bigint }>) =>
    [...kept].map(([name, { modRevision }]) => ({ kind, name, modRevision }));
  return [...toSeenKeys("group", groups), ...toSeenKeys("resource", resources)];
}

/**
 * Creates a check that a total can be evaluated on this host, or on any known host, since other hosts have their own
 * macros. A total that is unchanged in etcd is not checked.
 */
export function createTotalCheck({ facts }: Pick<CommandContext, "facts">, snapshot: Snapshot): TotalCheck {
  return (resource, total) => {
    if (snapshot.resources.get(resource)?.value?.total === total.trim()) return undefined;
    const here = evaluateUnits(total, createMacros(facts).lookup);
    if (!("fault" in here)) return undefined;
    const isFineSomewhere = [...snapshot.hosts].some(
      ([fqdn, record]) => !("fault" in evaluateUnits(total, buildHostMacros(fqdn, record).lookup)),
    );
    return isFineSomewhere ? undefined : here.fault;
  };
}
