import { drainLine } from "../foresight-text.ts";
import type { Scene } from "./view.ts";

/** Drains that stop runs and stand at no lock and no resource: of everything, of hosts, of groups. */
export function wideDrains({ drains }: Scene): string[] {
  const everything = drains.filter(({ scope }) => scope === "all");
  const others = drains.filter(({ scope }) => scope === "host" || scope === "group");
  const said =
    others.length > 1
      ? [`${others.length} hosts or groups are drained`]
      : others.map((one) => drainLine(one));
  return [...everything.map((one) => drainLine(one)), ...said].map((line) => `${line} (signalbox ls drains)`);
}
