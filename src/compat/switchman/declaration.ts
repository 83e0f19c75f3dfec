import type { Command } from "../../commands/spec.ts";
import { DIED } from "./codes.ts";

/** The declaration of `signalbox switchman`, for the help and the docs. */
export const declaration: Omit<Command, "load"> = {
  id: "switchman",
  topic: "Migrate",
  brief: "run a command as switchman does",
  about: [
    "Takes switchman's options and its configuration file, and does by etcd what switchman does by ZooKeeper: a crontab" +
      " goes on working when the program is replaced by a link of this name. switchman's parser reads the words: options" +
      " may be cut short, and stand behind the command's arguments too, up to --.",
    "Where etcd is, --endpoints says, or a key etcdhosts beside zkhosts in the file, or signalbox's own configuration." +
      " Groups and resources are those of signalbox; signalbox import switchman takes switchman's over. All locks are kept" +
      " together with those of signalbox run; a key etcdprefix in the file keeps them apart.",
    "Ends with the command's own code, 0 if a signal ended the command; with 0 too where the lock is taken, the host is" +
      " not in the group, or the task is queued already. 255: the line or the configuration is wrong, etcd cannot be" +
      " reached, or the leases were not granted in time. 2, 13: the command was not found, cannot be executed.",
    "Logs in switchman's form: warnings to standard error, all of it where DEBUG is set, and to the file's logfile what" +
      " its loglevel lets through.",
  ],
  args: [
    { name: "COMMAND", help: "what to run, best behind --" },
    { name: "ARG", isOptional: true, isRest: true, help: "its arguments" },
  ],
  takesWords: true,
  failure: DIED,
  flags: [
    {
      name: "config",
      short: "c",
      value: "FILE",
      help:
        "JSON with prefix, zkhosts, etcdhosts, etcdprefix, logfile, loglevel, termination_timeout," +
        " resources_wait_timeout (default: /etc/switchman.conf)",
    },
    {
      name: "group",
      short: "g",
      value: "GROUP",
      names: "group",
      help: "run only if this host is in the group",
    },
    {
      name: "lease",
      value: "RES=COUNT:TOTAL",
      names: "resource",
      isRepeatable: true,
      help: "units of a resource that is configured; FQDN, CPU, MEMMB and arithmetic are understood",
    },
    {
      name: "lockname",
      value: "NAME",
      names: "lock",
      help: "the lock (default: the command's base name); no / in it",
    },
    { name: "no-lock", aliases: ["nolock"], help: "take no lock, only leases, or see to the group alone" },
    { name: "lock", help: "take the lock after all" },
    { name: "endpoints", value: "URL,...", help: "addresses of etcd's members (not switchman's own)" },
    { name: "help", short: "h", help: "show this help, and end with 1" },
    { name: "version", short: "v", help: "show the version, and end with 1" },
  ],
  variables: [["DEBUG", "log everything to standard error"]],
  examples: [
    ["switchman -- cmd", "one host at a time, by a link of this name"],
    [
      "signalbox switchman -c /etc/switchman.conf -g web -- cmd",
      "the same without a link, on a group's hosts",
    ],
    ["switchman --lease FQDN_mem='4:int(MEMMB/1024)' -- cmd", "with 4 of this host's own GiB"],
  ],
};
