import { quoteShellWord } from "../../base/shell.ts";
import { quoteText, suggestNearest } from "../../base/text.ts";
import { findResetTargets } from "../../model/preview/reset-targets.ts";
import { buildClaims } from "../../model/snapshot/claims.ts";
import { findNamedQueue, type Snapshot } from "../../model/snapshot/snapshot.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import { validateName } from "../../protocol/names.ts";
import { getTextFlag } from "../command-line/flags.ts";
import { findOnlyClaim } from "../find-only-claim.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import { QUEUE_COLLECTIONS, readSnapshot } from "../read-snapshot.ts";
import { EvictionCommand } from "./reset/evict.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const [kindName = "", nameGiven = ""] = context.call.args;
  const kind: QueueKind = kindName === "resource" ? "resource" : "lock";
  const name = validateName(kind, nameGiven);
  const snapshot = await readSnapshot(context, QUEUE_COLLECTIONS);
  const wanted = getTextFlag(context.call, "run");
  const run = wanted === undefined ? undefined : resolveRun(snapshot, kind, name, wanted);
  return await new EvictionCommand(context, {
    action: "reset",
    target: `${kind} ${name}`,
    snapshot,
    findEntries: (seen) => findResetTargets(seen, kind, name, run),
    queues: [{ kind, name }],
    words: `signalbox reset ${kind} ${quoteShellWord(name)}${run === undefined ? "" : ` --run ${run}`}`,
    nothing: describeNothingHeld(snapshot, kind, name),
  }).run();
});

/**
 * Finds the run in the queue that a word names. Returns the word itself if there is none: a run that has ended is no
 * error.
 */
function resolveRun(snapshot: Snapshot, kind: QueueKind, name: string, word: string): string {
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  const here = new Set(entries.map((entry) => entry.run));
  const claims = new Map([...buildClaims(snapshot)].filter(([run]) => here.has(run)));
  return findOnlyClaim(word, claims)?.run ?? word;
}

function describeNothingHeld(snapshot: Snapshot, kind: QueueKind, name: string): string {
  const queue = findNamedQueue(snapshot, kind, name);
  if (queue !== undefined) return `nobody holds ${kind} ${quoteText(name)}; ${queue.entries.length} wait`;
  const known = [...snapshot.queues.values()].filter((one) => one.kind === kind).map((one) => one.name);
  return `nobody holds ${kind} ${quoteText(name)} or waits for it${suggestNearest(name, known)}`;
}
