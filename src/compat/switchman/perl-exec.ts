/** Matches a single expansion, which may become several words. */
const EXPANSION = /^[\ue000-\uf8ff]$/u;
/** Matches texts that Perl's `exec` passes to the shell, and the characters that stand for expansions. */
const FOR_SHELL = /[$&*(){}[\]'";\\|?<>~`\n\ue000-\uf8ff]|^[ \t]*(?:exec\s|\w+=)/u;

/**
 * Splits a command like Perl's `exec`: a single word is a text, which goes to the shell if it needs one and is
 * otherwise split at blanks.
 */
export function splitExecWords(command: readonly string[]): readonly string[] {
  const [text = "", ...others] = command;
  if (others.length > 0 || EXPANSION.test(text) || !/[^ \t\r\f\v]/.test(text)) return command;
  return FOR_SHELL.test(text)
    ? ["/bin/sh", "-c", text]
    : text.split(/[ \t\r\f\v]+/).filter((word) => word !== "");
}
