import { declareCommand } from "../declare-command.ts";

export const init = declareCommand({
  id: "init",
  topic: "Check",
  brief: "check that runs work on this host: native programs, etcd, permissions, prefix",
  about: [
    "Writes nothing to etcd. Prints each problem with a remedy. The exit code is 0 if runs will work. signalbox doctor" +
      " checks more, and takes longer.",
    "A host remembers the cluster that answers first, for each set of endpoints and each prefix, and refuses any other" +
      " (78). After the cluster was replaced on purpose, --forget-cluster lets the host accept the new one.",
  ],
  flags: {
    "--json": "as JSON",
    "--forget-cluster": "first forget the cluster that this host remembers for the endpoints and the prefix",
  },
  examples: {
    "signalbox init": "is everything ready for runs on this host?",
    "signalbox init --forget-cluster": "the endpoints now belong to a new cluster",
  },
  load: () => import("./init.impl.ts"),
});
