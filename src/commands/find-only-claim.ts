import { EXIT, SignalboxError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { type Claim, findClaimsByWord, formatTicketOwner } from "../model/snapshot/claims.ts";

/**
 * Finds the claim that a word matches; undefined if it matches none.
 * @throws SignalboxError 1 if there are several
 */
export function findOnlyClaim(word: string, among: ReadonlyMap<string, Claim>): Claim | undefined {
  const claims = findClaimsByWord(among, word);
  if (claims.length < 2) return claims[0];
  const names = claims
    .slice(0, 5)
    .map(({ run, entries: [first] }) => `${run}${first && ` (${formatTicketOwner(first.entry)})`}`);
  throw new SignalboxError(
    EXIT.undone,
    `${quoteText(word)} matches ${claims.length} runs: ${names.join(", ")}; type more characters of the id`,
  );
}
