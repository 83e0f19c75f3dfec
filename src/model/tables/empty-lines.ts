import type { QueueKind } from "../../protocol/keys.ts";
import { emptyLine, type Line } from "./queue-columns.ts";
import type { Scene } from "./view.ts";

/**
 * Locks or resources in whose queues nobody stands, and that are worth a line: those that are drained, and where all are
 * wanted, those that are known.
 * @param seen   names that have a line already
 * @param known  names that etcd remembers or that are configured; none where not all are wanted
 */
export function emptyLines(
  kind: QueueKind,
  seen: ReadonlySet<string>,
  known: Iterable<string>,
  scene: Scene,
): Line[] {
  const drained = scene.drains.filter(({ scope }) => scope === kind).map(({ name }) => name);
  const names = new Set([...drained, ...known]);
  return [...names].filter((name) => !seen.has(name)).map((name) => emptyLine(kind, name, scene));
}
