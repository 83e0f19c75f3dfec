import { CONNECTION_SETTINGS, type Command, LOGGING_SETTINGS } from "../spec.ts";

export const config: Command = {
  id: "config",
  topic: "Check",
  brief: "print the settings that hold here, and where each comes from",
  about: [
    "Flags come before SIGNALBOX_* variables, those before etcdctl's ETCDCTL_* variables, those before the user's file" +
      " ($XDG_CONFIG_HOME/signalbox/config.json), that before /etc/signalbox/config.json, and that before defaults.",
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: ["host", "group", "ttl", "terminationTimeout", ...LOGGING_SETTINGS, ...CONNECTION_SETTINGS],
  examples: [
    ["signalbox config", "what a run in this shell would use"],
    ["signalbox config -c ./test.json", "is this file right? (exit 78 if not)"],
  ],
  load: () => import("./config.impl.ts"),
};
