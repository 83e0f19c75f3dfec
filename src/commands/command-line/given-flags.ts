import { quoteShellWord } from "../../base/shell.ts";
import type { Call } from "../spec.ts";

/** Lists the given flags for a line to copy; flags not in `names` are left out. */
export function listGivenFlags({ flags }: Pick<Call, "flags">, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = flags[name];
    if (value === true) return [`--${name}`];
    return typeof value === "string" ? [`--${name}`, quoteShellWord(value)] : [];
  });
}
