import { HOOK_NAMES } from "../../../schedule/definition-values.ts";
import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";

const HOOK_TEST_FLAGS = declareFlags({
  "--schedule KEY": { names: "schedule", help: "call the hooks of this schedule" },
  "--event EVENT": {
    choices: HOOK_NAMES,
    help: "the event (default: failure, or all hooks of the schedule)",
  },
  "--json": "as JSON",
});

export type HookTestFlags = FlagsOf<typeof HOOK_TEST_FLAGS>;

export const hookTest = declareCommand({
  id: "hook test",
  topic: "Schedule",
  brief: "call a hook now, with made-up data",
  about: [
    "Calls an address or a command line as a worker on this host would, or the hooks of a schedule, and prints what came of it." +
      " The run in the message is made up; nothing is written into etcd. The exit code is 1 if a call failed.",
    "Without --schedule it works without etcd.",
  ],
  args: {
    "[ADDRESS|LINE]":
      "a URL, slack+URL, teams+URL, ntfy+URL, pagerduty+URL, mailto:ADDRESS, or a command line",
  },
  flags: HOOK_TEST_FLAGS,
  examples: {
    "signalbox hook test slack+https://hooks.slack.com/services/T0/B0/XXXX": "does the message arrive?",
    "signalbox hook test --schedule backup --event recovered": "one hook of a schedule",
  },
  load: () => import("./hook.impl.ts"),
});
