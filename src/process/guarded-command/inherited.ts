import { constants } from "node:os";

/** The variable in which the launcher describes what its caller passes on to the command (guardian/inherited.h). */
export const INHERITED_VARIABLE = "SIGNALBOX_INHERITED";

/** Descriptors and ignored signals that a command gets from the caller, besides the standard streams. */
export interface Inherited {
  /** The words of the launcher, which the guardian reads too. */
  words: readonly string[];
  /** Descriptors above 2, in the order of the words. */
  descriptors: readonly number[];
  /** Signals that the caller ignores. */
  ignored: readonly NodeJS.Signals[];
}

/**
 * Parses a description. Ignores unknown words, which a later launcher may write, and a text that was written for another
 * process, from which this one has inherited the variable.
 */
export function parseInherited(text = "", pid = process.pid): Inherited {
  const all = text.split(" ");
  const words = all.includes(`pid=${pid}`)
    ? all.filter((word) => /^(fd|ignore)=[1-9]\d{0,8}$/.test(word))
    : [];
  const listNumbers = (kind: string) =>
    words.flatMap((word) => (word.startsWith(kind) ? [Number(word.slice(kind.length))] : []));
  const numbers = new Set(listNumbers("ignore="));
  const ignored = Object.entries(constants.signals).filter(([, number]) => numbers.has(number));
  return {
    words,
    descriptors: listNumbers("fd="),
    ignored: ignored.map(([name]) => name as NodeJS.Signals),
  };
}
