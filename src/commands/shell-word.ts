import { shellWord } from "../base/shell.ts";
import type { Call } from "./spec.ts";

export { shellWord } from "../base/shell.ts";

/** Flags as they were given, for a line to copy; others than these are left out. */
export function givenFlags({ flags }: Pick<Call, "flags">, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = flags[name];
    if (value === true) return [`--${name}`];
    return typeof value === "string" ? [`--${name}`, shellWord(value)] : [];
  });
}
