import { buildQueueId } from "../../../model/snapshot/snapshot.ts";
import type { TabId } from "../../state/console-state.ts";

/** Returns the tab and the key of what an event names, as `lock invoices`; undefined if it has no row of its own. */
export function findNamedRow(subject: string): { tab: TabId; key: string } | undefined {
  const [, word = "", name = ""] = /^(lock|resource|host|group|schedule) (.+)$/s.exec(subject) ?? [];
  switch (word) {
    case "lock":
    case "resource":
      return { tab: `${word}s`, key: buildQueueId(word, name) };
    case "host":
    case "group":
    case "schedule":
      return { tab: `${word}s`, key: name };
    default:
      return undefined;
  }
}
