import type { Command } from "../../commands/spec.ts";
import { INVALID } from "./codes.ts";

export const zooLocked: Command = {
  id: "zoo-locked",
  topic: "Migrate",
  brief: "run a command as zoo-locked does",
  about: [
    "Runs the command while it holds the lock of PATH; where that is taken, prints LOCKED by and who has it, and ends" +
      " with 0. It never waits. The command is one word, in quotes, and is given to sh -c; words after it are passed over," +
      " as zoo-locked has always done, which is told on standard error.",
    "HOSTS are etcd's. Where a line still names ZooKeeper's (port 2181), those of signalbox's own configuration are taken;" +
      " without one, that is an error. PATH without its first slash is the lock's name, the same as in signalbox run" +
      " --lock.",
    "Ends with the command's own code; with 0 too if a signal ended the command, and where etcd cannot be reached, which" +
      " is told on standard error. 2: a host's name does not resolve. 22: the words are wrong, or the configuration. 125: the lock was lost, and the command" +
      " terminated, which zoo-locked never noticed.",
  ],
  args: [
    { name: "HOSTS", help: "etcd's members, with commas between: etcd1:2379,etcd2:2379" },
    { name: "PATH", help: "the lock, such as /locks/a" },
    { name: "COMMAND", help: "what to run, in quotes" },
    { name: "ARG", isOptional: true, isRest: true, help: "passed over" },
  ],
  takesWords: true,
  failure: INVALID,
  examples: [
    ["zoo-locked etcd1:2379,etcd2:2379 /locks/backup '/opt/backup.sh --all'", "by a link of this name"],
    [
      "signalbox zoo-locked zk1:2181 /locks/backup '/opt/backup.sh --all'",
      "a line as it was, with SIGNALBOX_ENDPOINTS set",
    ],
  ],
  load: () => import("./zoo-locked.impl.ts"),
};
