import { EXIT, SignalboxError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { type Claim, formatTicketOwner } from "../model/snapshot/claims.ts";

/**
 * Returns the only claim that a word matches; undefined if there is none.
 * @throws SignalboxError 1 if there are several
 */
export function findOnlyClaim(word: string, claims: readonly Claim[]): Claim | undefined {
  if (claims.length < 2) return claims[0];
  const names = claims
    .slice(0, 5)
    .map(({ run, entries: [first] }) => `${run}${first && ` (${formatTicketOwner(first.entry)})`}`);
  throw new SignalboxError(
    EXIT.undone,
    `${quoteText(word)} matches ${claims.length} runs: ${names.join(", ")}; type more characters of the id`,
  );
}
