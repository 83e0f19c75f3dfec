import { declareCommand } from "../../cli/frame/command.ts";

/** EINVAL, the exit code for hosts that ZooKeeper's library refuses. */
export const INVALID_EXIT_CODE = 22;

export const zooLocked = declareCommand({
  id: "zoo-locked",
  topic: "Migrate",
  brief: "run a command as zoo-locked does",
  about: [
    "Runs the command while it holds the lock of PATH; if it is taken, prints LOCKED by and the holder, and ends" +
      " with 0. It never waits. The command is one word, in quotes, and is given to sh -c; words after it are ignored," +
      " as by zoo-locked, with a warning on standard error.",
    "HOSTS are those of etcd. If a line still names those of ZooKeeper (port 2181), the hosts in signalbox's own configuration" +
      " are used; without a configuration, that is an error. PATH without its first slash is the lock's name, as in signalbox run" +
      " --lock.",
    "Ends with the command's own code; also with 0 if a signal ended the command, or if etcd cannot be reached, with a" +
      " message on standard error. 2: a host name does not resolve. 22: the arguments or the configuration are wrong. 125: the lock was lost, and the command" +
      " terminated, which zoo-locked does not detect.",
  ],
  args: {
    HOSTS: "etcd's members, separated by commas: etcd1:2379,etcd2:2379",
    PATH: "the lock, such as /locks/a",
    COMMAND: "the command to run, in quotes",
    "[ARG...]": "ignored",
  },
  takesWords: true,
  failure: INVALID_EXIT_CODE,
  examples: {
    "zoo-locked etcd1:2379,etcd2:2379 /locks/backup '/opt/backup.sh --all'": "through a link of this name",
    "signalbox zoo-locked zk1:2181 /locks/backup '/opt/backup.sh --all'":
      "a line as it was, with SIGNALBOX_ENDPOINTS set",
  },
  load: () => import("./zoo-locked.impl.ts"),
});
