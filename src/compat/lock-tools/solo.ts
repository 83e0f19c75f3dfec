import { UsageError } from "../../base/errors.ts";
import { collectTexts, quoteText } from "../../base/text.ts";
import { formatOneHostNote } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** EADDRINUSE, the exit code of Perl's `die` in that case. */
const BUSY = "98";
const SWITCHES = ["port", "noport", "silent", "verbose", "timeout", "sleep"];

/** Translates a line of solo, whose lock is a port of the loopback interface. @see https://timkay.com/solo/ */
export const translateSolo: LineTranslator = (words) => {
  const end = words.findIndex((word) => !word.startsWith("-") || word === "--");
  const given = new Map((end < 0 ? words : words.slice(0, end)).map(parseSwitch));
  const command = end < 0 ? [] : words.slice(words[end] === "--" ? end + 1 : end);
  const port = given.get("port") ?? "";
  if (given.has("noport") || !/^\d+$/.test(port))
    throw new UsageError("solo: -port=PORT is missing, so the line takes no lock");
  if (command.length === 0) throw new UsageError("solo: no command is given");
  return {
    options: [
      "--lock",
      `solo.${Number(port)}`,
      "-E",
      given.has("silent") ? "0" : BUSY,
      ...buildDurationFlag("--timeout", given.get("timeout")),
      ...buildDurationFlag("--grace", given.get("sleep")),
    ],
    command,
    notes: collectTexts([
      formatOneHostNote("solo"),
      "solo has a lock for each user's port; this lock is for all users",
      given.has("sleep") && "-sleep: the command starts at once, and the lock is kept for that time instead",
    ]),
    coversChildren: true,
  };
};

/** Parses a switch like `perl -s`. */
function parseSwitch(word: string): readonly [string, string] {
  const [, name = "", value = "1"] = /^-(\w*)(?:=(.*))?$/s.exec(word) ?? [];
  if (!SWITCHES.includes(name)) throw new UsageError(`solo: unknown option ${quoteText(word)}`);
  return [name, value];
}

function buildDurationFlag(flag: string, text: string | undefined): string[] {
  if (text === undefined || text === "0") return [];
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`solo: ${quoteText(text)} is not a number of seconds`);
  return [flag, `${Number(text)}s`];
}
