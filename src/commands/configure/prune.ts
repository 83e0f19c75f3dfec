import { ACTION_FLAGS } from "../command-line/flags.ts";
import { CONNECTION_SETTINGS, type Command } from "../spec.ts";

export const pruneCommand: Command = {
  id: "prune",
  topic: "Configure",
  brief: "delete old audit records and records of hosts that are gone",
  about: [
    "The audit grows with every action of an operator, and a host that was removed stays listed as not seen. Nothing" +
      " else needs to be deleted: histories keep their last 20 runs, and tickets are deleted with their sessions.",
  ],
  flags: [
    { name: "audit", value: "AGE", help: "delete audit records older than this" },
    { name: "hosts", value: "AGE", help: "delete hosts that were not seen for this long" },
    ...ACTION_FLAGS.filter(({ name }) => name !== "expect-revision"),
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox prune --audit 365d --hosts 30d --dry-run", "what would be deleted?"],
    ["signalbox prune --audit 365d --yes", "from a crontab, once a month"],
  ],
  load: () => import("./prune.impl.ts"),
};
