import { CONNECTION_SETTINGS, type Command, LOGGING_SETTINGS } from "../spec.ts";

export const config: Command = {
  id: "config",
  topic: "Check",
  brief: "print the effective settings, and where each comes from",
  about: [
    "Flags override SIGNALBOX_* variables, these override etcdctl's ETCDCTL_* variables, then follow the user's file" +
      " ($XDG_CONFIG_HOME/signalbox/config.json), /etc/signalbox/config.json, and the defaults.",
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: ["host", "group", "ttl", "terminationTimeout", ...LOGGING_SETTINGS, ...CONNECTION_SETTINGS],
  examples: [
    ["signalbox config", "the settings of a run in this shell"],
    ["signalbox config -c ./test.json", "is this file valid? (exit 78 if not)"],
  ],
  load: () => import("./config.impl.ts"),
};
