import { jsonFault } from "../base/json.ts";

/** A JSON object in what ZooKeeper's shell prints. */
export interface ZnodeText {
  /** As long as what was printed, line by line, so that faults in it have the places that the reader sees. */
  text: string;
  /** Lines that are no part of it and hold anything, from 1. */
  passedOver: readonly number[];
}

/**
 * The JSON in the output of `zkCli.sh get /prefix`, which has other lines around it: what it logs while it connects, what
 * the watcher saw, and the znode's numbers behind.
 * @returns undefined where there is no object that is whole
 */
export function znodeJson(printed: string): ZnodeText | undefined {
  const lines = printed.split("\n");
  for (const [first, line] of lines.entries()) {
    if (!/^\s*\{/.test(line)) continue;
    const last = lastLine(lines, first);
    if (last !== undefined) return cutOut(lines, first, last);
  }
  return undefined;
}

/** The line that completes the object which begins in `first`. */
function lastLine(lines: readonly string[], first: number): number | undefined {
  for (let last = first; last < lines.length; last++) {
    const end = lines[last]?.trimEnd() ?? "";
    if (end.endsWith("}") && jsonFault(lines.slice(first, last + 1).join("\n")) === undefined) return last;
  }
  return undefined;
}

function cutOut(lines: readonly string[], first: number, last: number): ZnodeText {
  const isOf = (index: number) => index >= first && index <= last;
  const passedOver = lines.flatMap((line, index) => (isOf(index) || line.trim() === "" ? [] : [index + 1]));
  return { text: lines.map((line, index) => (isOf(index) ? line : "")).join("\n"), passedOver };
}
