import { clean } from "./text.ts";

/**
 * Quotes a word for a command line that people read and copy into an interactive shell. Characters that a terminal does
 * not show are escaped (`$'\u202e'`; bash, zsh, ksh): the displayed word is the whole word.
 */
export function quoteShellWord(word: string): string {
  if (clean(word) === word) return quotePosixWord(word);
  const hidden = /['\\\x00-\x1f\x7f-\x9f\p{M}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
  return `$'${word.replace(hidden, escapeCharacter)}'`;
}

/** The same for the words of a command, separated by spaces. */
export function quoteShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

/** Quotes a word for a script: any POSIX shell reads it unchanged. */
export function quotePosixWord(word: string): string {
  return /^[\w.:@%+=,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Commands of the shell that are no programs and that crontabs begin with. */
const BUILTINS: ReadonlySet<string> = new Set([".", "cd", "exec", "export", "source", "ulimit", "umask"]);

/** Finds what was probably meant by a program that does not exist, because no shell interprets the words of a command. */
export function findCommandHint(file: string): string | undefined {
  if (file.startsWith("-")) return "options of signalbox are written before --";
  if (/\s/.test(file))
    return "it is one word: leave out the quotes around command and arguments, or use a shell: sh -c 'COMMAND'";
  if (/^[A-Za-z_]\w*=/.test(file))
    return `no shell sets variables here; write: env ${quoteShellWord(file)} COMMAND`;
  return BUILTINS.has(file) ? "it is a command of the shell; write: sh -c 'COMMAND'" : undefined;
}

function escapeCharacter(char: string): string {
  if (char === "'" || char === "\\") return `\\${char}`;
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}

/** A variable that a text for the shell uses. */
interface UsedVariable {
  name: string;
  /** The text states a default or an alternative: `${HOST:-none}`. */
  hasDefault: boolean;
}

/** Lists the variables in capital letters that a text for the shell uses, outside of single quotes: `$HOST`. */
export function listUsedVariables(text: string): UsedVariable[] {
  const expanded = text
    .replace(/("(?:\\.|[^"\\])*")|'[^']*'|\\./gs, (_, quoted?: string) => quoted ?? "")
    .replace(/\\./gs, "");
  return [...expanded.matchAll(/\$(?:([A-Za-z_]\w*)|\{#?([A-Za-z_]\w*)(:?[-=?+])?)/g)]
    .map(([, plain, braced = "", operator]) => ({
      name: plain ?? braced,
      hasDefault: operator !== undefined,
    }))
    .filter(({ name }) => name === name.toUpperCase());
}
