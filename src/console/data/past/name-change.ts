import { cleanToWidth } from "../../../base/display-width.ts";
import type { Keys } from "../../../protocol/keys.ts";
import type { PastChange } from "../../../work/observe/neighbour-change.ts";

/** Longest name, columns. */
const WIDEST = 40;

/** Names what a change has written or deleted: `lock backup and 3 more`. An action is named by what it changed. */
export function nameChange(keys: Keys, change: PastChange): string {
  const names = [...new Set(change.keys.map((key) => nameKey(keys, key)))];
  const [first = "", ...more] = [
    ...names.filter((name) => name !== ACTION),
    ...names.filter((name) => name === ACTION),
  ];
  return cleanToWidth(first, WIDEST) + (more.length > 0 ? ` and ${more.length} more` : "");
}

const ACTION = "an action";

function nameKey(keys: Keys, key: string): string {
  const queue = keys.parseQueueKey(key);
  if (queue !== undefined) return `${queue.kind} ${queue.name}`;
  const parsed = keys.parse(key);
  if (parsed.kind === "audit") return ACTION;
  return "name" in parsed ? `${parsed.kind} ${parsed.name}` : key.slice(keys.prefix.length);
}
