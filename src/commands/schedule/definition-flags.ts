import { formatDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { EXCLUSION_RULES } from "../../schedule/calendar/day-rule.ts";
import type { Definition } from "../../schedule/definition.ts";
import {
  CATCHUPS,
  CHAIN_CONDITIONS,
  type Hook,
  OVERLAPS,
  REMOVAL_CONDITIONS,
} from "../../schedule/definition-values.ts";
import type { FlagsOf, FlagTable } from "../spec.ts";

/** Flags for the fields of a schedule other than its cron text. In `edit`, an empty value removes the field. */
export const DEFINITION_FLAGS = {
  "--timezone ZONE": "time zone of the cron text, such as Europe/Berlin (default: UTC)",
  "--data JSON": { canClear: true, help: "data for the handler" },
  "--command LINE": {
    canClear: true,
    help: "the command, split into words as by a shell, but run without one; or put it after --",
  },
  "--env NAME=VALUE": { isRepeatable: true, canClear: true, help: "an environment variable of the command" },
  "--after KEY[,KEY…]": {
    names: "schedule",
    canClear: true,
    help: "run it when each of these schedules has ended since its last run",
  },
  "--on CONDITION": {
    choices: CHAIN_CONDITIONS,
    help: "how the schedules of --after must end: success, failure (given up), or end: either (default: success)",
  },
  "--except NAME[,NAME…]": {
    names: "calendar",
    canClear: true,
    help: "do not fire on the days of these calendars",
  },
  "--only NAME[,NAME…]": {
    names: "calendar",
    canClear: true,
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
  "--end TIME": { canClear: true, help: "no occurrence after this time" },
  "--catchup RULE": {
    choices: CATCHUPS,
    help: "which missed occurrences to run: all, only the latest, or none (default: all)",
  },
  "--deadline DURATION": { canClear: true, help: "skip occurrences that are later than this" },
  "--overlap RULE": {
    choices: OVERLAPS,
    help: "if the previous run is still running: forbid (wait), allow, or replace it (default: forbid)",
  },
  "--priority N": {
    canClear: true,
    help: "start it before what has a lower priority, from -100 to 100 (default: 0)",
  },
  "--remove-after CONDITION": {
    choices: REMOVAL_CONDITIONS,
    help: "delete the schedule when its last run has succeeded, or has ended: success, end",
  },
  "--group GROUP": { names: "group", canClear: true, help: "run it only on hosts of this group" },
  "--lease RESOURCE=COUNT[:TOTAL]": {
    names: "resource",
    isRepeatable: true,
    canClear: true,
    help: "units of a resource to hold while it runs",
  },
  "--timeout DURATION": { canClear: true, help: "end a run that takes longer than this" },
  "--retries NUMBER": { canClear: true, help: "how often to retry a failed run (default: 0)" },
  "--backoff DURATION": {
    canClear: true,
    help: "delay before the first retry, doubled for each further one (default: 30s)",
  },
  "--keep N": { canClear: true, help: "how many outcomes the history keeps, 1 to 100 (default: 20)" },
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
  "--tag TAG": { isRepeatable: true, canClear: true, help: "a word for filters, such as team=billing" },
  "--note TEXT": { canClear: true, help: "a note, shown to others" },
} satisfies FlagTable;

/** Values of these flags. */
export type DefinitionFlags = FlagsOf<typeof DEFINITION_FLAGS>;

/** Flags for the next run. */
export const START_FLAGS = {
  "--start TIME": "no occurrence before this time (default: now)",
  "--at TIME": "when to start the first run",
} satisfies FlagTable;

function declareHookFlag(when: string) {
  return { canClear: true, help: `call this address, or run this line, ${when}` } as const;
}

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"] as const;
const TEXTS = ["type", "on", "catchup", "overlap", "group", "note"] as const;

/** Converts a definition to the flags of `schedule edit`, without cron text and time zone. */
export function toEditFlags(definition: Definition): Record<string, string | readonly string[]> {
  const {
    priority,
    removeAfter,
    data,
    command,
    env,
    end,
    after,
    tags,
    leases,
    retries,
    keep,
    keepFor,
    hooks = {},
  } = definition;
  const flags: Record<string, string | readonly string[] | undefined> = {
    ...Object.fromEntries(TEXTS.map((name) => [name, definition[name]])),
    ...Object.fromEntries(DURATIONS.map((name) => [name, formatOptionalDuration(definition[name])])),
    data: data === undefined ? undefined : JSON.stringify(data),
    command: command && formatLine(command),
    env: env && Object.entries(env).map(([name, value]) => `${name}=${value}`),
    end: end === undefined ? undefined : new Date(end).toISOString(),
    after: after?.join(","),
    priority: priority === undefined ? undefined : String(priority),
    "remove-after": removeAfter,
    except: definition.except?.join(","),
    only: definition.only?.join(","),
    "if-excluded": definition.ifExcluded,
    tag: tags,
    lease: leases,
    retries: retries === undefined ? undefined : String(retries),
    keep: keep === undefined ? undefined : String(keep),
    "keep-for": formatOptionalDuration(keepFor),
    ...Object.fromEntries(
      Object.entries(hooks).map(([name, hook]) => [`hook-${name}`, hook && formatHook(hook)]),
    ),
  };
  const there = Object.entries(flags).filter(
    (flag): flag is [string, string | string[]] => flag[1] !== undefined,
  );
  return Object.fromEntries(there);
}

function formatOptionalDuration(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms);
}

function formatLine(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

function formatHook(hook: Hook): string {
  return typeof hook === "string" ? hook : formatLine(hook);
}
