import { CONNECTION_SETTINGS, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { UNGUARDED_ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const PRUNE_FLAGS = declareFlags({
  "--expired":
    "delete audit records, and histories of locks, that retentionAge and retentionCount do not keep; workers do this by themselves",
  "--audit AGE": "delete audit records older than this",
  "--hosts AGE": "delete hosts that were not seen for this long",
  "--vanished":
    "delete marks of runs whose session has ended before its time; waits up to their time to live",
  ...UNGUARDED_ACTION_FLAGS,
});

export type PruneFlags = FlagsOf<typeof PRUNE_FLAGS>;

export const pruneCommand = declareCommand({
  id: "prune",
  topic: "Configure",
  brief: "delete old audit records, hosts that are gone, and marks of vanished tickets",
  about: [
    "The audit grows with every action of an operator, and a host that was removed stays listed as not seen. A host that" +
      " was lost leaves the mark of each claim that it held until the next run asks for it: of names that are used" +
      " once, they stay. Histories keep their last 20 runs," +
      " and tickets are deleted with their sessions.",
  ],
  flags: PRUNE_FLAGS,
  settings: ["retentionAge", "retentionCount", ...CONNECTION_SETTINGS],
  examples: {
    "signalbox prune --audit 365d --hosts 30d --dry-run": "what would be deleted?",
    "signalbox prune --audit 365d --vanished --yes": "from a crontab, once a month",
    "signalbox prune --expired --yes": "what workers do; for sites without workers",
  },
  load: () => import("./prune.impl.ts"),
});
