import type { Definition } from "../../../schedule/definition.ts";
import type { ClaimedOccurrence } from "../claims/claim-occurrence.ts";

/** Returns the definition with the data and the variables that this occurrence has of its own. */
export function mergeOwnInput({
  definition,
  open,
}: Pick<ClaimedOccurrence, "definition" | "open">): Definition {
  const { data, env } = open;
  if (data === undefined && env === undefined) return definition;
  return {
    ...definition,
    ...(data !== undefined && { data }),
    ...(env !== undefined && { env: { ...definition.env, ...env } }),
  };
}
