import { CATCHUPS, HOOK_NAMES, OVERLAPS } from "../../../schedule/definition-values.ts";
import type { Flag } from "../../spec.ts";

/** Flags for the fields of a schedule other than its cron text. In `edit`, an empty value removes the field. */
export const DEFINITION_FLAGS: readonly Flag[] = [
  {
    name: "timezone",
    value: "ZONE",
    canClear: true,
    help: "time zone of the cron text, such as Europe/Berlin (default: UTC)",
  },
  { name: "data", value: "JSON", canClear: true, help: "data for the handler" },
  {
    name: "command",
    value: "LINE",
    canClear: true,
    help: "the command, split into words as by a shell, but run without one; or put it after --",
  },
  {
    name: "env",
    value: "NAME=VALUE",
    isRepeatable: true,
    canClear: true,
    help: "an environment variable of the command",
  },
  { name: "delay", value: "DURATION", canClear: true, help: "run it this long after its scheduled time" },
  {
    name: "jitter",
    value: "DURATION",
    canClear: true,
    help: "and up to this much later; the same for all runs of a schedule",
  },
  { name: "end", value: "TIME", canClear: true, help: "no occurrence after this time" },
  {
    name: "catchup",
    value: "RULE",
    choices: CATCHUPS,
    help: "which missed occurrences to run: all, only the latest, or none (default: all)",
  },
  { name: "deadline", value: "DURATION", canClear: true, help: "skip occurrences that are later than this" },
  {
    name: "overlap",
    value: "RULE",
    choices: OVERLAPS,
    help: "if the previous run is still running: forbid (wait), allow, or replace it (default: forbid)",
  },
  {
    name: "group",
    value: "GROUP",
    names: "group",
    canClear: true,
    help: "run it only on hosts of this group",
  },
  {
    name: "lease",
    value: "RESOURCE=COUNT[:TOTAL]",
    names: "resource",
    isRepeatable: true,
    canClear: true,
    help: "units of a resource to hold while it runs",
  },
  { name: "timeout", value: "DURATION", canClear: true, help: "end a run that takes longer than this" },
  {
    name: "retries",
    value: "NUMBER",
    canClear: true,
    help: "how often to retry a failed run (default: 0)",
  },
  {
    name: "backoff",
    value: "DURATION",
    canClear: true,
    help: "delay before the first retry, doubled for each further one (default: 30s)",
  },
  ...HOOK_NAMES.map(
    (hook): Flag => ({ name: `hook-${hook}`, value: "URL|LINE", canClear: true, help: describeHook(hook) }),
  ),
  { name: "note", value: "TEXT", canClear: true, help: "a note, shown to others" },
];

/** Flags for the next run. */
export const START_FLAGS: readonly Flag[] = [
  { name: "start", value: "TIME", help: "no occurrence before this time (default: now)" },
  { name: "at", value: "TIME", help: "when to start the first run" },
];

function describeHook(hook: (typeof HOOK_NAMES)[number]): string {
  const when = {
    start: "when a run starts",
    success: "when a run succeeds",
    failure: "when a run fails, also before a retry",
    late: "when a run starts late",
    missed: "when occurrences are skipped",
  };
  return `call this URL, or run this line, ${when[hook]}`;
}
