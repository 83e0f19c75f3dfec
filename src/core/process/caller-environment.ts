/**
 * The launcher puts this before the names of the caller's variables for Node, so that they have no effect on signalbox
 * (launcher/fallback.c).
 */
const PREFIX = "SIGNALBOX_CALLER_";

/** Returns the environment as the caller of the launcher has set it. `process.env` has some variables by other names. */
export function readCallerEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env);
  if (!entries.some(([name]) => name.startsWith(PREFIX))) return process.env;
  return Object.fromEntries(entries.map(([name, value]) => [removePrefix(name), value]));
}

/** Does the same for entries that are separated by NULs. */
export function restoreCallerEntries(bytes: Buffer): Buffer {
  if (!bytes.includes(PREFIX)) return bytes;
  const entries = bytes.toString("latin1").split("\0");
  return Buffer.from(entries.map(removePrefix).join("\0"), "latin1");
}

function removePrefix(text: string): string {
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
}
