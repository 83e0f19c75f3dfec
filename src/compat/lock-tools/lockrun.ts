import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { buildFileLock } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

const NAMES: Readonly<Record<string, string>> = {
  "-L": "lockfile",
  "--lockfile": "lockfile",
  "-W": "wait",
  "--wait": "wait",
  "-S": "sleep",
  "--sleep": "sleep",
  "-T": "maxtime",
  "--maxtime": "maxtime",
  "-V": "verbose",
  "--verbose": "verbose",
  // Later versions have a quiet mode, under different names.
  "-I": "quiet",
  "--idempotent": "quiet",
  "-Q": "quiet",
  "--quiet": "quiet",
};
const VALUED = ["lockfile", "sleep", "maxtime"];

/** Translates a line of lockrun. @see http://unixwiz.net/tools/lockrun.html */
export const translateLockrun: LineTranslator = (words) => {
  const end = words.indexOf("--");
  const command = end < 0 ? [] : words.slice(end + 1);
  if (command.length === 0) throw new UsageError("lockrun: -- and a command are needed");
  const given = parseLockrunOptions(words.slice(0, end));
  const file = given.get("lockfile");
  if (file === undefined) throw new UsageError("lockrun: --lockfile is missing");
  const { lock, notes } = buildFileLock("lockrun", file);
  const left = ["sleep", "maxtime", "verbose"].filter((name) => given.has(name)).map((name) => `--${name}`);
  return {
    options: ["--lock", lock, ...(given.has("wait") ? ["--wait"] : []), "-E", given.has("quiet") ? "0" : "1"],
    command,
    notes: [
      ...notes,
      "the exit code is the command's own; some versions of lockrun always end with 0",
      ...(left.length === 0 ? [] : [`${left.join(", ")}: left out`]),
    ],
  };
};

function parseLockrunOptions(words: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, typed = "", inline] = /^([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const name = Object.hasOwn(NAMES, typed) ? NAMES[typed] : undefined;
    if (name === undefined) throw new UsageError(`lockrun: unknown option ${quoteText(typed)}`);
    if (!VALUED.includes(name)) given.set(name, "");
    else {
      const value = inline ?? left.shift();
      if (value === undefined) throw new UsageError(`lockrun: ${typed} needs a value`);
      given.set(name, value);
    }
  }
  return given;
}
