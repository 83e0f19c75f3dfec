import type { Argument, Command } from "../../commands/spec.ts";
import { CODES } from "./settings/codes.ts";

const ARGS: readonly Argument[] = [
  { name: "COMMAND", help: "what to run" },
  { name: "ARG", isOptional: true, isRest: true, help: "its arguments" },
];

const VARIABLES: NonNullable<Command["variables"]> = [
  ["CRONLOCK_HOST", "etcd's host, or several with commas between, each with :PORT or not"],
  [
    "CRONLOCK_PORT",
    "their port (2379). Without HOST and PORT, SIGNALBOX_ENDPOINTS and our files say where etcd is",
  ],
  ["CRONLOCK_AUTH", "user:password of etcd; or a password alone, then SIGNALBOX_USER names the user"],
  ["CRONLOCK_USER", "the user; CRONLOCK_AUTH is the password alone then"],
  ["CRONLOCK_TLS", "yes: speak TLS (no)"],
  ["CRONLOCK_TLS_SKIP_VERIFY", "yes: accept any certificate (no)"],
  ["CRONLOCK_DB", "a number; other than 0, its locks are kept apart, under the prefix and db<NUMBER>/ (0)"],
  ["CRONLOCK_KEY", "name of the lock, behind the prefix (a hash of command and arguments)"],
  ["CRONLOCK_PREFIX", "what its name begins with (cronlock.)"],
  ["CRONLOCK_GRACE", "seconds for which the lock is kept at least, counted from the tool's start (40)"],
  [
    "CRONLOCK_RELEASE",
    "seconds after which the lock is free; a command that still runs is terminated then (86400)",
  ],
  ["CRONLOCK_TIMEOUT", "seconds after which the command is killed; 0: never (0)"],
  ["CRONLOCK_RESET", "yes: end whoever holds the lock, run nothing (no)"],
  ["CRONLOCK_REDIS_TIMEOUT", "seconds to wait for etcd's answer (30)"],
  ["CRONLOCK_RECONNECT_ATTEMPTS", "attempts to reach etcd at the start (5)"],
  ["CRONLOCK_RECONNECT_BACKOFF", "seconds by which the pause between them grows (5)"],
  ["CRONLOCK_VERBOSE", "yes: say what is done (no)"],
  ["CRONLOCK_NTPDATE", "ignored"],
  ["CRONLOCK_USE_SENTINEL", "yes is an error: name several hosts of etcd instead"],
];

const DIFFERENCES = [
  "The lock is held by a session that is renewed: when its host dies, the lock is free within half a minute (ttl), not" +
    " after CRONLOCK_RELEASE; and a command that can no longer prove its lock is terminated (201).",
  "After CRONLOCK_RELEASE the lock is free in any case, so the command is terminated then: exit code 202, as with" +
    " CRONLOCK_TIMEOUT. CRONLOCK_RESET=yes ends the run that holds the lock, for the same reason.",
  "Exit codes: 200 the lock is taken, or it was reset; 201 an error; 202 the command was ended by a time limit; otherwise" +
    " the command's own, 126 and 127 if it could not be started.",
  "Settings of ours (SIGNALBOX_..., configuration files) hold beside, for what no variable here says.",
];

export const cronlock: Command = {
  id: "cronlock",
  topic: "Migrate",
  brief: "run a command as cronlock does",
  about: [
    "Takes cronlock's command line and variables, and keeps its lock in etcd. A link named cronlock that leads to" +
      " signalbox is called the same way.",
    ...DIFFERENCES,
    "Configuration: the file that CRONLOCK_CONFIG names, else cronlock.conf beside the program, else /etc/cronlock.conf." +
      " Its assignments win over the environment. It is read, never run: anything but assignments is an error.",
  ],
  args: ARGS,
  takesWords: true,
  failure: CODES.failure,
  variables: [["CRONLOCK_CONFIG", "file with these variables (/etc/cronlock.conf)"], ...VARIABLES],
  examples: [
    ["signalbox cronlock ls -al", "where the crontab had: cronlock ls -al"],
    ["ln -s $(command -v signalbox) /usr/local/bin/cronlock", "so that crontabs need no change"],
    ["CRONLOCK_HOST=etcd1,etcd2,etcd3 CRONLOCK_GRACE=50 cronlock ./mail.sh", "one host of all, each minute"],
    ["CRONLOCK_RESET=yes cronlock ./mail.sh", "end whoever runs it"],
  ],
  load: () => import("./cronlock.impl.ts"),
};

export const golock: Command = {
  id: "golock",
  topic: "Migrate",
  brief: "run a command as golock does",
  about: [
    "Takes golock's command line and variables, and keeps its lock in etcd. A link named golock that leads to signalbox is" +
      " called the same way. Where no key is given, the lock's name is golock's: another than cronlock's.",
    ...DIFFERENCES,
    "golock has no configuration file; one in cronlock's form is read where CRONLOCK_CONFIG names it.",
  ],
  args: ARGS,
  takesWords: true,
  failure: CODES.failure,
  variables: [["CRONLOCK_CONFIG", "file with these variables (none)"], ...VARIABLES],
  examples: [
    ["signalbox golock command.sh", "where the crontab had: golock command.sh"],
    ["CRONLOCK_KEY=ls golock ls -al", "a lock that other commands can share"],
  ],
  load: () => import("./golock.impl.ts"),
};
