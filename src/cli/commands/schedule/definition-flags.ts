import { formatDuration } from "../../../core/base/clock.ts";
import { CONTAINER_RULES } from "../../../core/base/container.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { findInexactNumber } from "../../../core/base/json-numbers.ts";
import { quoteShellWords } from "../../../core/base/shell.ts";
import { quoteText } from "../../../core/base/text.ts";
import { parseCondition } from "../../../core/fleet/conditions.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { isBlackoutText, parseBlackout } from "../../../schedule/calendar/blackout.ts";
import { EXCLUSION_RULES } from "../../../schedule/calendar/day-rule.ts";
import { checkZone } from "../../../schedule/cron/offsets.ts";
import type { Definition } from "../../../schedule/definition.ts";
import {
  CATCHUPS,
  CHAIN_CONDITIONS,
  EVERY_HOST,
  type Hook,
  isSecretName,
  isUserName,
  MAX_PRIORITY,
  MOST_KEPT,
  OVERLAPS,
  PLACES,
  REMOVAL_CONDITIONS,
} from "../../../schedule/definition-values.ts";
import { findExpectationFault } from "../../../schedule/expectation.ts";
import { declareFlags, type Flag, type FlagsOf, toFlags } from "../../frame/command.ts";
import { parseEndTime, parseTime } from "../../frame/command-line/instant.ts";
import { createCountParser } from "../../frame/command-line/values.ts";
import { parseCommandWords, parseHook } from "../run/parse-hook.ts";

/** Parses DATA of a schedule. @throws UsageError */
export function parseDataJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `data ${quoteText(text)} is not JSON: ${(error as Error).message}; write a text with quotes: '"text"'`,
    );
  }
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) throw new UsageError(`data: ${inexact.detail}`);
  return value;
}

/** Parses a variable. @throws UsageError */
export function parseVariable(text: string, flag = "--env"): readonly [name: string, value: string] {
  const [, name, value = ""] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new UsageError(`${flag} must be NAME=VALUE; got ${quoteText(text)}`);
  return [name, value];
}

function parseSecret(text: string, flag: string): readonly [name: string, secret: string] {
  const [name, secret] = parseVariable(text, flag);
  if (isSecretName(secret)) return [name, secret];
  throw new UsageError(
    `${flag} must be NAME=SECRET, with the name of a secret in the worker's file, not its value; got ${quoteText(`${name}=…`)}`,
  );
}

function parseUser(text: string): string {
  if (isUserName(text)) return text;
  throw new UsageError(`--run-as must be the name of a user, and not a number; got ${quoteText(text)}`);
}

function createNamesParser(what: string) {
  return (text: string): readonly string[] => text.split(",").map((name) => validateName(what, name.trim()));
}

function parseExcept(text: string): readonly string[] {
  return text.split(",").map((given) => {
    const entry = given.trim();
    const parsed = isBlackoutText(entry) ? parseBlackout(entry) : { value: entry };
    if ("fault" in parsed) throw new UsageError(`--except: ${parsed.fault}`);
    return isBlackoutText(entry) ? entry : validateName("calendar", entry);
  });
}

function parseZone(text: string): string {
  if (text === "") throw new UsageError("--timezone must not be empty; write UTC, or leave it out");
  return checkZone(text);
}

function parseExpect(text: string): string {
  const fault = findExpectationFault(text);
  if (fault !== undefined) throw new UsageError(`--expect ${fault}`);
  return text;
}

function parseTag(text: string): string {
  if (/^[^\s,]{1,100}$/.test(text)) return text;
  throw new UsageError(`--tag must be a word without spaces and commas; got ${quoteText(text)}`);
}

/** Flags for the fields of a schedule other than its cron text. In `edit`, an empty value removes the field. */
export const DEFINITION_FLAGS = declareFlags({
  "--timezone ZONE": {
    parse: parseZone,
    help: "time zone of the cron text, such as Europe/Berlin (default: UTC)",
  },
  "--data JSON": { canClear: true, parse: parseDataJson, help: "data for the handler" },
  "--command LINE": {
    canClear: true,
    parse: parseCommandWords,
    help: "the command, split into words as by a shell, but run without one; or put it after --",
  },
  "--env NAME=VALUE": {
    isRepeatable: true,
    canClear: true,
    parse: parseVariable,
    help: "an environment variable of the command",
  },
  "--folder DIR": {
    canClear: true,
    help: "working folder of the command: an absolute path, or ~ for the home of the worker's user (default: the worker's)",
  },
  "--input TEXT": {
    help: "standard input of the command, which can be empty, instead of the task as JSON",
  },
  "--run-as USER": {
    canClear: true,
    parse: parseUser,
    help: "the user who runs the command, with its groups and cron's environment, on workers that may become this user, or already are (default: the worker's)",
  },
  "--secret NAME=SECRET": {
    isRepeatable: true,
    canClear: true,
    parse: parseSecret,
    help: "a variable with the value of a secret of the worker's file",
  },
  "--secret-file NAME=SECRET": {
    isRepeatable: true,
    canClear: true,
    parse: parseSecret,
    help: "a variable with the path of a file that only its user can read, with the value of a secret",
  },
  "--container RULE": {
    canClear: true,
    choices: CONTAINER_RULES,
    help: "end the container of docker run, podman run or nerdctl run with the command; if it is elsewhere: warn, or end the command",
  },
  "--after KEY[,KEY…]": {
    names: "schedule",
    canClear: true,
    parse: createNamesParser("schedule"),
    help: "run it when each of these schedules has ended since its last run",
  },
  "--on CONDITION|every-host": {
    canClear: true,
    choices: [...CHAIN_CONDITIONS, EVERY_HOST],
    help: "how the schedules of --after must end: success, failure (given up), or end: either (default: success); every-host: run each occurrence once on each host, or on each of --group",
  },
  "--except NAME|TIMES[,…]": {
    names: "calendar",
    canClear: true,
    parse: parseExcept,
    help: "do not fire on the days of these calendars, nor at these times of the day, such as 22:00-06:00",
  },
  "--only NAME[,NAME…]": {
    names: "calendar",
    canClear: true,
    parse: createNamesParser("calendar"),
    help: "fire only on the days of any of these calendars",
  },
  "--if-excluded RULE": {
    choices: EXCLUSION_RULES,
    help: "what is due on an excluded day: skip it, or move it to the next or previous day that is not (default: skip)",
  },
  "--delay DURATION": { canClear: true, help: "run it this long after its scheduled time" },
  "--jitter DURATION": {
    canClear: true,
    help: "and up to this much later; the same for all runs of a schedule",
  },
  "--end TIME": { canClear: true, parse: parseEndTime, help: "no occurrence after this time" },
  "--catchup RULE": {
    choices: CATCHUPS,
    help: "which missed occurrences to run: all, only the latest, or none (default: latest; with --after: all)",
  },
  "--deadline DURATION": { canClear: true, help: "skip occurrences that are later than this" },
  "--overlap RULE": {
    choices: OVERLAPS,
    help: "if the previous run is still running: forbid (wait), allow, or replace it (default: forbid)",
  },
  "--priority N": {
    canClear: true,
    parse: createCountParser(-MAX_PRIORITY, MAX_PRIORITY),
    help: "start it before what has a lower priority, from -100 to 100 (default: 0)",
  },
  "--remove-after CONDITION": {
    choices: REMOVAL_CONDITIONS,
    help: "delete the schedule when its last run has succeeded, or has ended: success, end",
  },
  "--group GROUP": {
    names: "group",
    canClear: true,
    parse: (text) => validateName("group", text),
    help: "run it only on hosts of this group",
  },
  "--place RULE": {
    canClear: true,
    choices: PLACES,
    help: "least-loaded: of the hosts that can run it, the one with the least load starts it (default: the load does not matter)",
  },
  "--if CONDITION": {
    isRepeatable: true,
    separator: ";",
    canClear: true,
    parse: parseCondition,
    help: "start it only on a host that fulfils this now: load < CPU, pressure.memory < 10; until --deadline",
  },
  "--lease RESOURCE=COUNT[:TOTAL]": {
    names: "resource",
    isRepeatable: true,
    canClear: true,
    help: "units of a resource to hold while it runs",
  },
  "--timeout DURATION": { canClear: true, help: "end a run that takes longer than this" },
  "--expect RANGE": {
    canClear: true,
    parse: parseExpect,
    help: "how long a run should take: 5s..20m, 5s.. or ..20m; see --hook-overrun and ls problems",
  },
  "--retries NUMBER": {
    canClear: true,
    parse: createCountParser(0),
    help: "how often to retry a failed run (default: 0)",
  },
  "--backoff DURATION": {
    canClear: true,
    help: "delay before the first retry, doubled for each further one (default: 30s)",
  },
  "--pause-after-failures N": {
    canClear: true,
    parse: createCountParser(1),
    help: "pause it when so many occurrences in a row were given up",
  },
  "--keep N": {
    canClear: true,
    parse: createCountParser(1, MOST_KEPT),
    help: "how many outcomes the history keeps, 1 to 100 (default: 20)",
  },
  "--keep-for DURATION": {
    canClear: true,
    help: "drop outcomes that ended so much earlier than the newest one",
  },
  "--hook-start ADDRESS|LINE": declareHookFlag("when a run starts"),
  "--hook-success ADDRESS|LINE": declareHookFlag("when a run succeeds"),
  "--hook-failure ADDRESS|LINE": declareHookFlag("when a run fails, also before a retry"),
  "--hook-failed-first ADDRESS|LINE": declareHookFlag("when a run fails after one that succeeded"),
  "--hook-recovered ADDRESS|LINE": declareHookFlag("when a run succeeds after one that failed"),
  "--hook-dead ADDRESS|LINE": declareHookFlag("when an occurrence is given up"),
  "--hook-late ADDRESS|LINE": declareHookFlag("when a run starts late"),
  "--hook-missed ADDRESS|LINE": declareHookFlag("when occurrences are skipped"),
  "--hook-overrun ADDRESS|LINE": declareHookFlag("when a run takes longer than --expect, while it runs"),
  "--hook-too-short ADDRESS|LINE": declareHookFlag("when a run succeeds sooner than --expect"),
  "--tag TAG": {
    isRepeatable: true,
    canClear: true,
    parse: parseTag,
    help: "a word for filters, such as team=billing",
  },
  "--note TEXT": { canClear: true, help: "a note, shown to others" },
});

export type DefinitionFlags = FlagsOf<typeof DEFINITION_FLAGS>;

/** Flags for the next run. */
export const START_FLAGS = declareFlags({
  "--start TIME": { parse: parseTime, help: "no occurrence before this time (default: now)" },
  "--at TIME": { parse: parseTime, help: "when to start the first run" },
});

function declareHookFlag(when: string) {
  return { canClear: true, parse: parseHook, help: `call this address, or run this line, ${when}` } as const;
}

/** Flags that do not have the name of their field. */
const PLURAL_FIELDS: Readonly<Record<string, keyof Definition>> = {
  tag: "tags",
  lease: "leases",
  secret: "secrets",
  "secret-file": "secretFiles",
};

/** Lists the flags of fields, each with its field: `--keep-for` and `keepFor`. Hooks are one field with many flags. */
export function listFieldFlags(): { flag: Flag; field: keyof Definition }[] {
  const toCamelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return toFlags(DEFINITION_FLAGS)
    .filter(({ name }) => !name.startsWith("hook-"))
    .map((flag) => ({
      flag,
      field: PLURAL_FIELDS[flag.name] ?? (toCamelCase(flag.name) as keyof Definition),
    }));
}

/** Converts a definition to the flags of `schedule edit`, without cron text and time zone. */
export function toEditFlags(definition: Definition): Record<string, string | readonly string[]> {
  const { type, hooks = {} } = definition;
  const fields = listFieldFlags().flatMap(({ flag, field }) => {
    const value = definition[field];
    return value === undefined || field === "timezone"
      ? []
      : [[flag.name, formatFlagValue(flag, value)] as const];
  });
  const called = Object.entries(hooks).flatMap(([name, hook]) =>
    hook === undefined ? [] : [[`hook-${name}`, formatHook(hook)] as const],
  );
  return Object.fromEntries([...(type === undefined ? [] : [["type", type] as const]), ...fields, ...called]);
}

/** Formats the value of a field as its flag takes it. A list that is one value is joined with commas. */
function formatFlagValue(
  { name, value: kind, isRepeatable }: Flag,
  value: unknown,
): string | readonly string[] {
  if (kind === "DURATION") return formatDuration(value as number);
  if (name === "data") return JSON.stringify(value);
  if (name === "command") return quoteShellWords(value as readonly string[]);
  if (name === "end") return new Date(value as number).toISOString();
  if (["env", "secret", "secret-file"].includes(name))
    return Object.entries(value as object).map((pair) => pair.join("="));
  return isRepeatable ? (value as readonly string[]) : String(value);
}

function formatHook(hook: Hook): string {
  return typeof hook === "string" ? hook : quoteShellWords(hook);
}
