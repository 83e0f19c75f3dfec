import { createHash } from "node:crypto";

/** The supported tools. They differ in details. */
export type CronlockTool = "cronlock" | "golock";

/**
 * Computes the hash that a tool uses as key if none is set: of its arguments, joined with blanks; for cronlock as
 * bash's `echo` prints them.
 * @returns the MD5 hash, in hexadecimal digits
 */
export function computeArgumentsHash(tool: CronlockTool, words: readonly string[]): string {
  const text = tool === "golock" ? words.join(" ") : formatEcho(words);
  return createHash("md5").update(text).digest("hex");
}

/** Formats words like `echo`: leading words that consist only of its options are not printed. */
function formatEcho(words: readonly string[]): string {
  const start = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const options = start < 0 ? words : words.slice(0, start);
  const printed = start < 0 ? [] : words.slice(start);
  return `${printed.join(" ")}${options.some((option) => option.includes("n")) ? "" : "\n"}`;
}
