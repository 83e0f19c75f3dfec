import { declareCommand } from "../../cli/frame/command.ts";

export const DIED_EXIT_CODE = 255;

export const switchman = declareCommand({
  id: "switchman",
  topic: "Migrate",
  brief: "run a command as switchman does",
  about: [
    "Takes switchman's options and its configuration file, and uses etcd as switchman uses ZooKeeper: a crontab" +
      " continues to work when a link of this name replaces the program. Options are parsed as by switchman: they" +
      " may be abbreviated, and may also follow the command's arguments, up to --.",
    "The addresses of etcd are in --endpoints, in a key etcdhosts beside zkhosts in the file, or in signalbox's own configuration." +
      " Groups and resources are those of signalbox; signalbox import switchman imports switchman's. All locks are shared" +
      " with signalbox run, unless a key etcdprefix in the file separates them.",
    "Ends with the command's own code, 0 if a signal ended the command; also with 0 if the lock is taken, the host is" +
      " not in the group, or the task is already queued. 255: the line or the configuration is wrong, etcd cannot be" +
      " reached, or the leases were not granted in time. 2: the command was not found. 13: it cannot be executed.",
    "Logs in switchman's form: warnings to standard error, everything if DEBUG is set; and to the logfile of the" +
      " configuration file, from its loglevel on.",
  ],
  args: { COMMAND: "the command to run, best after --", "[ARG...]": "its arguments" },
  takesWords: true,
  failure: DIED_EXIT_CODE,
  flags: {
    "-c, --config FILE":
      "JSON with prefix, zkhosts, etcdhosts, etcdprefix, logfile, loglevel, termination_timeout," +
      " resources_wait_timeout (default: /etc/switchman.conf)",
    "-g, --group GROUP": { names: "group", help: "run only if this host is in the group" },
    "--lease RES=COUNT:TOTAL": {
      names: "resource",
      isRepeatable: true,
      help: "units of a configured resource; FQDN, CPU, MEMMB and arithmetic are supported",
    },
    "--lockname NAME": { names: "lock", help: "the lock (default: the command's base name); without /" },
    "--no-lock": "take no lock, only leases, or only check the group",
    "--lock": "take the lock (revokes --no-lock)",
    "--endpoints URL,...": "addresses of etcd's members (not switchman's own)",
    "-h, --help": "show this help, and end with 1; --help alone ends with 0",
    "-v, --version": "show the version, and end with 1",
  },
  variables: { DEBUG: "log everything to standard error" },
  examples: {
    "switchman -- cmd": "one host at a time, through a link of this name",
    "signalbox switchman -c /etc/switchman.conf -g web -- cmd":
      "the same without a link, on the hosts of a group",
    "switchman --lease FQDN_mem='4:int(MEMMB/1024)' -- cmd": "with 4 of this host's own GiB",
  },
  load: () => import("./switchman.impl.ts"),
});
