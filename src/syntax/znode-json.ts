import { parseJson } from "../base/parse-json.ts";

/** A JSON object found in the output of ZooKeeper's shell. */
interface ZnodeJson {
  /** The text has the same lines as the output, with other lines blank, so that fault positions match the output. */
  text: string;
  /** Numbers of the non-blank lines that are not part of the object, from 1. */
  passedOver: readonly number[];
}

/**
 * Extracts the JSON object from the output of `zkCli.sh get /prefix`. The output has other lines around it: connection
 * logs, watcher events, and the numbers of the znode after it.
 * @returns undefined if there is no complete object
 */
export function extractZnodeJson(printed: string): ZnodeJson | undefined {
  const lines = printed.split("\n");
  for (const [first, line] of lines.entries()) {
    if (!/^\s*\{/.test(line)) continue;
    const last = findLastLine(lines, first);
    if (last !== undefined) return cutOut(lines, first, last);
  }
  return undefined;
}

/** Finds the line that completes the object that begins at line `first`. */
function findLastLine(lines: readonly string[], first: number): number | undefined {
  for (let last = first; last < lines.length; last++) {
    const end = lines[last]?.trimEnd() ?? "";
    if (end.endsWith("}") && parseJson(lines.slice(first, last + 1).join("\n")) !== undefined) return last;
  }
  return undefined;
}

function cutOut(lines: readonly string[], first: number, last: number): ZnodeJson {
  const isInside = (index: number) => index >= first && index <= last;
  const passedOver = lines.flatMap((line, index) =>
    isInside(index) || line.trim() === "" ? [] : [index + 1],
  );
  return { text: lines.map((line, index) => (isInside(index) ? line : "")).join("\n"), passedOver };
}
