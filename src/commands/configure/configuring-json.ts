import type { ConfigChange } from "../../fleet/changes.ts";
import type { Impact } from "../../model/configuring/impact.ts";
import { claimJson } from "../act/evict-json.ts";

/** What a change of the configuration did or would do, for programs. docs/json.md says what the fields mean. */
export function configuringJson(
  { action, target, changes }: { action: string; target: string; changes: readonly ConfigChange[] },
  { hits, notes }: Impact,
  revision: bigint,
  outcome: string,
  messages: readonly string[],
): object {
  return {
    ...{ revision, action, target, outcome, messages, notes },
    changes: changes.map(({ kind, name, before, after }) => ({
      ...{ kind, name, before: before ?? null, after: after ?? null },
    })),
    hits: hits.map(({ claim, fate, exit, why }) => ({ ...claimJson(claim), fate, exit, why })),
  };
}
