/**
 * Largest number of characters of arguments in a ticket: every waiting run reads it, and etcd limits the size of a
 * request.
 */
const MOST = 4_096;
/** Largest number for one argument. */
const LONGEST = 1_024;
/** Mark at the end of a shortened argument. */
const MARK = "…";

/** Shortens arguments for a ticket: long ones are cut, and the last word counts those that are left out. */
export function shortenArgs(args: readonly string[]): string[] {
  const kept: string[] = [];
  let length = 0;
  for (const arg of args) {
    const word = arg.length <= LONGEST ? arg : `${arg.slice(0, LONGEST).toWellFormed()}${MARK}`;
    length += word.length + 1;
    if (length > MOST) break;
    kept.push(word);
  }
  const left = args.length - kept.length;
  return left === 0 ? kept : [...kept, `${MARK} (${left} more)`];
}
