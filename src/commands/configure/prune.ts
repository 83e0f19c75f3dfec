import { ACTION_FLAGS } from "../command-line/flags.ts";
import { CONNECTION_SETTINGS, type Command } from "../spec.ts";

export const pruneCommand: Command = {
  id: "prune",
  topic: "Configure",
  brief: "forget old audit records and hosts that are gone",
  about: [
    "The audit grows with every action of an operator, and a host that was taken away stays listed as not seen. Nothing" +
      " else is ever deleted: histories keep their last 20 runs, tickets go with their sessions.",
  ],
  flags: [
    { name: "audit", value: "AGE", help: "forget audit records older than this" },
    { name: "hosts", value: "AGE", help: "forget hosts that were not seen for this long" },
    ...ACTION_FLAGS.filter(({ name }) => name !== "expect-revision"),
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox prune --audit 365d --hosts 30d --dry-run", "what would be forgotten?"],
    ["signalbox prune --audit 365d --yes", "from a crontab, once a month"],
  ],
  load: () => import("./prune.impl.ts"),
};
