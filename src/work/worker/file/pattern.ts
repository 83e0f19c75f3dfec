import { Script } from "node:vm";
import { quoteText } from "../../../base/text.ts";
import { createTypeMatcher } from "../../../schedule/handler-types.ts";

/** Time limit per text, ms. The texts are chosen to be slow to match. */
const PATIENCE = 50;
const TRIALS = 10;

/**
 * Describes what is wrong with a handler's type: it is an invalid regular expression, or takes exponential time. The
 * texts to match come from anyone who may write schedules.
 */
export function findPatternFault(type: string): string | undefined {
  try {
    createTypeMatcher(type);
  } catch (error) {
    return `${quoteText(type)} is not a regular expression: ${(error as Error).message}`;
  }
  const pattern = /^\/(.*)\/$/s.exec(type)?.[1];
  if (pattern === undefined || !/[*+}]/.test(pattern)) return undefined;
  return isFastPattern(pattern)
    ? undefined
    : `${quoteText(type)} can take for ever; do not repeat a repeated part`;
}

/** Tests the pattern with many repetitions of text it probably matches, followed by an end that it does not match. */
function isFastPattern(pattern: string): boolean {
  const letters = [...new Set(["a", "0", ".", "_", ...pattern.replace(/\\./g, "")])].slice(0, TRIALS);
  const texts = letters.map((letter) => `${letter.repeat(40)}\n\u0001`);
  const code = `const e = new RegExp(${JSON.stringify(pattern)}); for (const t of ${JSON.stringify(texts)}) e.test(t);`;
  try {
    new Script(code).runInNewContext({}, { timeout: PATIENCE * texts.length });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT";
  }
}
