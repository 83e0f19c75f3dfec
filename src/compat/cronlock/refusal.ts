import { quoted } from "../../base/text.ts";
import type { Refusal } from "../../commands/run/errand.ts";
import type { Wish } from "./wish.ts";

/** Why nothing was run, as the tools say it where they know of such a case. @param wall  wall clock, ms since the epoch */
export function refusalText({ tool, lock }: Wish, refusal: Refusal, wall: number): string {
  if (refusal.kind !== "busy") return `${tool} ${lock}: ${otherText(refusal)}`;
  const words =
    tool === "golock" ? `Lock ${lock} acquired by another process` : `Cronlock ${lock} was already acquired`;
  const { host, pid, until } = refusal.holder?.ticket ?? {};
  if (until !== undefined) return `${words} (expires in ${Math.max(0, Math.ceil((until - wall) / 1000))}s)`;
  return host === undefined ? words : `${words} (by process ${pid} on ${host})`;
}

function otherText(refusal: Exclude<Refusal, { kind: "busy" }>): string {
  switch (refusal.kind) {
    case "drained":
      return "drained by an operator";
    case "outside":
      return `this host is not in group ${quoted(refusal.group)}`;
    case "timeout":
      return `the wait timed out; ${refusal.why}`;
    case "evicted":
      return `removed from the queue by ${quoted(refusal.by)}`;
    default:
      return "the session expired while waiting";
  }
}
