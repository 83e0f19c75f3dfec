import { declareCommand } from "../declare-command.ts";

export const init = declareCommand({
  id: "init",
  topic: "Check",
  brief: "check that runs work on this host: native programs, etcd, permissions, prefix",
  about: [
    "Writes nothing. Prints each problem with a remedy. The exit code is 0 if runs will work. signalbox doctor checks" +
      " more, and takes longer.",
  ],
  flags: { "--json": "as JSON" },
  examples: { "signalbox init": "is everything ready for runs on this host?" },
  load: () => import("./init.impl.ts"),
});
