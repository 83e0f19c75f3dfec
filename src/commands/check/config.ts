import { declareCommand } from "../declare-command.ts";
import { CONNECTION_SETTINGS, LOGGING_SETTINGS } from "../spec.ts";

export const config = declareCommand({
  id: "config",
  topic: "Check",
  brief: "print the effective settings, and where each comes from",
  about: [
    "Flags override SIGNALBOX_* variables, these override etcdctl's ETCDCTL_* variables, then follow the user's file" +
      " ($XDG_CONFIG_HOME/signalbox/config.json), /etc/signalbox/config.json, and the defaults.",
  ],
  flags: { "--json": "as JSON" },
  settings: ["host", "group", "ttl", "terminationTimeout", ...LOGGING_SETTINGS, ...CONNECTION_SETTINGS],
  examples: {
    "signalbox config": "the settings of a run in this shell",
    "signalbox config -c ./test.json": "is this file valid? (exit 78 if not)",
  },
  load: () => import("./config.impl.ts"),
});
