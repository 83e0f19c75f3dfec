import { formatDrainLine } from "../preview/eviction-preview-text.ts";
import type { ViewContext } from "../views/view.ts";

/** Formats the drains that no row of a lock or resource shows: of everything, of hosts and of groups. */
export function formatWideDrains({ drains }: ViewContext): string[] {
  const everything = drains.filter(({ scope }) => scope === "all");
  const others = drains.filter(({ scope }) => scope === "host" || scope === "group");
  const said =
    others.length > 1
      ? [`${others.length} hosts or groups are drained`]
      : others.map((one) => formatDrainLine(one));
  return [...everything.map((one) => formatDrainLine(one)), ...said].map(
    (line) => `${line} (signalbox ls drains)`,
  );
}
