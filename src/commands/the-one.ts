import { EXIT, SignalboxError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";
import { type Claim, whoIs } from "../model/claims.ts";

/** The only claim that a word means; undefined where it means none. @throws SignalboxError 1 where it means several */
export function theOne(word: string, claims: readonly Claim[]): Claim | undefined {
  if (claims.length < 2) return claims[0];
  const names = claims
    .slice(0, 5)
    .map(({ run, stands: [first] }) => `${run}${first && ` (${whoIs(first.place)})`}`);
  throw new SignalboxError(
    EXIT.undone,
    `${quoted(word)} may be ${claims.length} runs: ${names.join(", ")}; say more of it`,
  );
}
