import { createHash } from "node:crypto";

/** The tools whose lines are understood here; they differ in little. */
export type Tool = "cronlock" | "golock";

/**
 * What a tool hashes where no key is given: its arguments with blanks between, cronlock's as bash's `echo` prints them.
 * @returns the MD5 hash, in hexadecimal digits
 */
export function argumentsHash(tool: Tool, words: readonly string[]): string {
  const text = tool === "golock" ? words.join(" ") : echoed(words);
  return createHash("md5").update(text).digest("hex");
}

/** `echo` takes the words at the beginning that are nothing but its options, and prints the others. */
function echoed(words: readonly string[]): string {
  const start = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const options = start < 0 ? words : words.slice(0, start);
  const printed = start < 0 ? [] : words.slice(start);
  return `${printed.join(" ")}${options.some((option) => option.includes("n")) ? "" : "\n"}`;
}
