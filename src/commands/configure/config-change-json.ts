import type { ConfigChange } from "../../fleet/config-changes.ts";
import type { ConfigImpact } from "../../model/config-impact/impact.ts";
import { toClaimJson } from "../act/evict-json.ts";

/** Builds the JSON document of a configuration change that was done or previewed. docs/json.md describes the fields. */
export function toConfigChangeJson(
  { action, target, changes }: { action: string; target: string; changes: readonly ConfigChange[] },
  { affected, notes }: ConfigImpact,
  revision: bigint,
  outcome: string,
  messages: readonly string[],
): object {
  return {
    ...{ revision, action, target, outcome, messages, notes },
    changes: changes.map(({ kind, name, before, after }) => ({
      ...{ kind, name, before: before ?? null, after: after ?? null },
    })),
    hits: affected.map(({ claim, fate, exit, why }) => ({ ...toClaimJson(claim), fate, exit, why })),
  };
}
