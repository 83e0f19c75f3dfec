import { EXIT, SignalboxError } from "../../../base/errors.ts";
import { quoteShellWord } from "../../../base/shell.ts";
import { quoteText } from "../../../base/text.ts";
import { buildClaims, type Claim, formatTicketOwner, isHolder } from "../../../model/snapshot/claims.ts";
import { findOnlyClaim } from "../../find-only-claim.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import { QUEUE_COLLECTIONS, readSnapshot } from "../../read-snapshot.ts";
import { EvictionCommand } from "./evict.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const [word = ""] = context.call.args;
  const snapshot = await readSnapshot(context, QUEUE_COLLECTIONS);
  const claim = findOnlyClaim(word, buildClaims(snapshot));
  if (claim !== undefined) refuseHolder(claim);
  const stands = claim?.entries ?? [];
  const outcome = await new EvictionCommand(context, {
    action: "release",
    target: `run ${claim?.run ?? word}`,
    snapshot,
    findEntries: (seen) =>
      (claim &&
        buildClaims(seen)
          .get(claim.run)
          ?.entries.map(({ entry }) => entry)) ??
      [],
    queues: stands.map(({ queue: { kind, name } }) => ({ kind, name })),
    words: `signalbox release ${claim?.run ?? word}`,
    nothing: `no run ${quoteText(word)} is waiting`,
  }).run();
  const isUnknown = claim === undefined && outcome.result.outcome === "nothing";
  return isUnknown ? { ...outcome, exitCode: EXIT.undone, isFault: true } : outcome;
});

/** Refuses a run that holds something: `release` of a waiting run ends no command, this would. */
function refuseHolder(claim: Claim): void {
  const [first] = claim.entries;
  if (first === undefined || !isHolder(claim)) return;
  const { queue, entry } = first;
  throw new SignalboxError(
    EXIT.changed,
    `nothing was done: ${formatTicketOwner(entry)} is not waiting, it holds ${queue.kind} ${quoteText(queue.name)}; ` +
      `end it with: signalbox reset ${queue.kind} ${quoteShellWord(queue.name)} --run ${claim.run}`,
  );
}
