/** Options of every command, and those of connection and log, that take a value. */
export const VALUED: readonly string[] = [
  "-c",
  "--config",
  "--context",
  "--endpoints",
  "--prefix",
  "--transport",
  "--connect-timeout",
  "--user",
  "--password-file",
  "--cacert",
  "--cert",
  "--key",
  "--server-name",
  "--cluster-id",
  "--log-file",
  "--log-level",
  "--log-format",
];
/** Those that take none. */
export const SWITCHES: readonly string[] = [
  "-v",
  "--verbose",
  "-q",
  "--quiet",
  "--allow-plaintext-password",
  "--insecure-skip-tls-verify",
];

/**
 * Moves options that stand before the command behind it: `--context prod ls` becomes `ls --context prod`. The declarations
 * of the commands are not loaded for this. Returns other lines unchanged, which the commands refuse.
 * @param foreign  commands whose words are those of another tool
 */
export function moveLeadingOptions(words: readonly string[], foreign: readonly string[]): readonly string[] {
  const count = countLeadingOptions(words);
  const command = words[count];
  if (count === 0 || command === undefined || command.startsWith("-") || foreign.includes(command))
    return words;
  const second = words[count + 1];
  const end = second === undefined || second.startsWith("-") ? count + 1 : count + 2; // behind both of `group list`
  return [...words.slice(count, end), ...words.slice(0, count), ...words.slice(end)];
}

/** Counts the words before the command. */
export function countLeadingOptions(words: readonly string[]): number {
  let next = 0;
  for (let word = words[0]; word?.startsWith("-"); word = words[next]) {
    const isSwitch = SWITCHES.includes(word) || /^-[vq]{2,}$/.test(word);
    if (VALUED.includes(word)) next += 2;
    else if (isSwitch || VALUED.includes(word.split("=", 1)[0] ?? "")) next += 1;
    else break;
  }
  return next;
}
