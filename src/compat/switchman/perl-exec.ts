/** One expansion and nothing else may come to several words. */
const EXPANSION = /^[\ue000-\uf8ff]$/u;
/** What makes Perl's `exec` give a text to the shell; and the characters that stand for what only a shell knows. */
const FOR_SHELL = /[$&*(){}[\]'";\\|?<>~`\n\ue000-\uf8ff]|^[ \t]*(?:exec\s|\w+=)/u;

/** A command of one word is a text to Perl's `exec`: for the shell where it needs one, else words with blanks between. */
export function execWords(command: readonly string[]): readonly string[] {
  const [text = "", ...others] = command;
  if (others.length > 0 || EXPANSION.test(text) || !/[^ \t\r\f\v]/.test(text)) return command;
  return FOR_SHELL.test(text)
    ? ["/bin/sh", "-c", text]
    : text.split(/[ \t\r\f\v]+/).filter((word) => word !== "");
}
