/** Quotes a word so that a shell reads it unchanged. Used for command lines that people copy. */
export function quoteShellWord(word: string): string {
  return /^[\w.:@%+=,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
