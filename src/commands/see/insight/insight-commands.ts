import { declareCommand } from "../../declare-command.ts";

export const collisions = declareCommand({
  id: "collisions",
  topic: "See",
  brief: "which schedules compete for the same minutes, leases or locks",
  about: [
    "Lists, for the coming time: schedules that start in the same minute; leases of which the runs together need more units than" +
      " the total; and runs that usually have not ended when the next one starts that they exclude: of the same schedule, or with" +
      " the same lock (`signalbox run --lock` in the command).",
    "The usual duration is the median of the recorded runs. A run without a record counts as one minute for leases. Leases with" +
      " macros differ between hosts and are left out. Prints the commands that would spread the schedules, and changes nothing.",
  ],
  flags: { "--within DURATION": "how far to look ahead, at most 31d (default: 24h)", "--json": "as JSON" },
  examples: {
    "signalbox collisions": "what competes in the next 24 hours?",
    "signalbox collisions --within 7d --json | jq -r '.suggestions[].command'": "commands for a week",
  },
  load: () => import("./collisions.impl.ts"),
});
