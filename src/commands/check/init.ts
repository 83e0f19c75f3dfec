import { CONNECTION, type Command } from "../spec.ts";

export const init: Command = {
  id: "init",
  topic: "Check",
  brief: "check that etcd can be used: members, versions, permissions, prefix",
  about: [
    "Writes nothing. Says what is wrong and what to do about it; exit code 0 when runs will work. signalbox doctor looks at" +
      " more, and longer.",
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION,
  examples: [["signalbox init", "is everything ready for runs on this host?"]],
  load: () => import("./init.run.ts"),
};
