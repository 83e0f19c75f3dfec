import { CONNECTION_SETTINGS, type Command } from "../spec.ts";

export const init: Command = {
  id: "init",
  topic: "Check",
  brief: "check that runs will work here: guardian, etcd, permissions, prefix",
  about: [
    "Writes nothing. Says what is wrong and what to do about it; exit code 0 when runs will work. signalbox doctor looks at" +
      " more, and longer.",
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox init", "is everything ready for runs on this host?"]],
  load: () => import("./init.impl.ts"),
};
