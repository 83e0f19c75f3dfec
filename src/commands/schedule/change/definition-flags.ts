import { CATCHUPS, HOOK_NAMES, OVERLAPS } from "../../../schedule/definition.ts";
import type { Flag } from "../../spec.ts";

/** Flags for the fields of a schedule other than its cron text. In `edit`, an empty value removes the field. */
export const DEFINITION_FLAGS: readonly Flag[] = [
  {
    name: "timezone",
    value: "ZONE",
    canClear: true,
    help: "whose clock the cron text means, such as Europe/Berlin (default: UTC)",
  },
  { name: "data", value: "JSON", canClear: true, help: "what the handler gets" },
  {
    name: "command",
    value: "LINE",
    canClear: true,
    help: "what to run, split into words as a shell would, but without one; or put it after --",
  },
  { name: "env", value: "NAME=VALUE", isRepeatable: true, canClear: true, help: "a variable of the command" },
  { name: "delay", value: "DURATION", canClear: true, help: "run it that long after its time" },
  {
    name: "jitter",
    value: "DURATION",
    canClear: true,
    help: "and up to that much later, always the same for one schedule",
  },
  { name: "end", value: "TIME", canClear: true, help: "no occurrence is later" },
  {
    name: "catchup",
    value: "RULE",
    choices: CATCHUPS,
    help: "missed occurrences: make up for all, only the latest, or none (default: all)",
  },
  { name: "deadline", value: "DURATION", canClear: true, help: "skip what is later than that" },
  {
    name: "overlap",
    value: "RULE",
    choices: OVERLAPS,
    help: "while the one before runs: forbid (wait), allow, or replace it (default: forbid)",
  },
  { name: "group", value: "GROUP", names: "group", canClear: true, help: "only hosts of this group run it" },
  {
    name: "lease",
    value: "RESOURCE=COUNT[:TOTAL]",
    names: "resource",
    isRepeatable: true,
    canClear: true,
    help: "units that it must hold while it runs",
  },
  { name: "timeout", value: "DURATION", canClear: true, help: "end a run that takes longer" },
  {
    name: "retries",
    value: "NUMBER",
    canClear: true,
    help: "start a failed one again so often (default: 0)",
  },
  {
    name: "backoff",
    value: "DURATION",
    canClear: true,
    help: "before the first of these, doubled for each further one (default: 30s)",
  },
  ...HOOK_NAMES.map(
    (hook): Flag => ({ name: `hook-${hook}`, value: "URL|LINE", canClear: true, help: describeHook(hook) }),
  ),
  { name: "note", value: "TEXT", canClear: true, help: "a word about it, shown to others" },
];

/** Flags for the next run. */
export const START_FLAGS: readonly Flag[] = [
  { name: "start", value: "TIME", help: "the first occurrence is the first from then on (default: now)" },
  { name: "at", value: "TIME", help: "when the first run may be started, and only that" },
];

function describeHook(hook: (typeof HOOK_NAMES)[number]): string {
  const when = {
    start: "whenever it is started",
    success: "when it ends well",
    failure: "when it fails, also where it is tried again",
    late: "when it is started late",
    missed: "when occurrences are skipped",
  };
  return `call this URL, or run this line, ${when[hook]}`;
}
