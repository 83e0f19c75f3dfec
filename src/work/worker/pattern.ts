import { Script } from "node:vm";
import { quoted } from "../../base/text.ts";
import { typeMatcher } from "../../schedule/types.ts";

/** ms that a pattern may take for a text that was made to be hard for it. */
const PATIENCE = 50;
const TRIALS = 10;

/**
 * What is wrong with a type among handlers: no regular expression, or one that takes exponential time. Anybody who may write
 * schedules chooses the texts that it is matched with.
 */
export function patternFault(type: string): string | undefined {
  try {
    typeMatcher(type);
  } catch (error) {
    return `${quoted(type)} is no regular expression: ${(error as Error).message}`;
  }
  const pattern = /^\/(.*)\/$/s.exec(type)?.[1];
  if (pattern === undefined || !/[*+}]/.test(pattern)) return undefined;
  return isPatient(pattern)
    ? undefined
    : `${quoted(type)} can take for ever; do not repeat what is repeated already`;
}

/** Tries it with what it probably matches, many times over, and an end that it does not. */
function isPatient(pattern: string): boolean {
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
