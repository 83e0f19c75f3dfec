import { type ArgumentTable, declareCommand } from "../../cli/frame/command.ts";

/** Exit codes of cronlock and golock. Other codes are those of the command. */
export const CRONLOCK_CODES = { refused: 200, failure: 201, timeout: 202 } as const;

const ARGS: ArgumentTable = { COMMAND: "the command to run", "[ARG...]": "its arguments" };

const VARIABLES = {
  CRONLOCK_HOST: "host of etcd, or several separated by commas, with or without :PORT",
  CRONLOCK_PORT: "their port (2379). Without HOST and PORT, SIGNALBOX_ENDPOINTS and signalbox's files apply",
  CRONLOCK_AUTH: "user:password of etcd; or only a password, and the user in SIGNALBOX_USER",
  CRONLOCK_USER: "the user; CRONLOCK_AUTH is then only the password",
  CRONLOCK_TLS: "yes: use TLS (no)",
  CRONLOCK_TLS_SKIP_VERIFY: "yes: accept any certificate (no)",
  CRONLOCK_DB: "a number; if not 0, the locks are kept apart, under the prefix and db<NUMBER>/ (0)",
  CRONLOCK_KEY: "name of the lock, after CRONLOCK_PREFIX (a hash of command and arguments)",
  CRONLOCK_PREFIX: "the beginning of the lock's name (cronlock.)",
  CRONLOCK_GRACE: "minimum seconds to keep the lock, counted from the tool's start (40)",
  CRONLOCK_RELEASE:
    "seconds after which the lock is free; a command that still runs is terminated then (86400)",
  CRONLOCK_TIMEOUT: "seconds after which the command is killed; 0: never (0)",
  CRONLOCK_RESET: "yes: end the run that holds the lock, run nothing (no)",
  CRONLOCK_REDIS_TIMEOUT: "seconds to wait for an answer of etcd (30)",
  CRONLOCK_RECONNECT_ATTEMPTS: "attempts to reach etcd at the start (5)",
  CRONLOCK_RECONNECT_BACKOFF: "seconds by which the pause between attempts grows (5)",
  CRONLOCK_RETRIES: "how often to retry a command that failed, as --retries of signalbox run (0)",
  CRONLOCK_RETRY_WAIT: "seconds before the first retry (30)",
  CRONLOCK_JITTER: "up to how many seconds to wait before the lock is taken (0)",
  CRONLOCK_QUIET_SUCCESS: "yes: print the output only if the command fails (no)",
  CRONLOCK_PING: "a check of healthchecks.io to ping, as --ping of signalbox run",
  CRONLOCK_ON_FAILURE: "an address to call or a line to run when the command has failed",
  CRONLOCK_ON_SUCCESS: "the same when it has succeeded",
  CRONLOCK_VERBOSE: "yes: log what is done (no)",
  CRONLOCK_SHOW_KEY: "yes: golock writes the lock's name to standard error (no)",
  CRONLOCK_NTPDATE: "ignored",
  CRONLOCK_USE_SENTINEL: "yes is an error: name several hosts of etcd instead",
};

const DIFFERENCES = [
  "The lock belongs to a session that is renewed: when its host dies, the lock is free within half a minute (ttl), not" +
    " after CRONLOCK_RELEASE; and a command that can no longer prove its lock is terminated (201).",
  "After CRONLOCK_RELEASE the lock is free in any case, so the command is terminated then: exit code 202, as with" +
    " CRONLOCK_TIMEOUT. CRONLOCK_RESET=yes ends the run that holds the lock, for the same reason.",
  "Exit codes: 200: the lock is taken, or was reset; 201: an error; 202: a time limit ended the command; otherwise" +
    " the command's own, 126 and 127 if it could not be started.",
  "The settings of signalbox (SIGNALBOX_..., configuration files) apply where no variable here does.",
];

export const cronlock = declareCommand({
  id: "cronlock",
  topic: "Migrate",
  brief: "run a command as cronlock does",
  about: [
    "Takes cronlock's command line and variables, and keeps its lock in etcd. A link named cronlock that leads to" +
      " signalbox does the same.",
    ...DIFFERENCES,
    "Configuration: the file that CRONLOCK_CONFIG names, else cronlock.conf beside the program, else /etc/cronlock.conf." +
      " Its assignments win over the environment. It is read, never run: anything but assignments is an error.",
  ],
  args: ARGS,
  takesWords: true,
  failure: CRONLOCK_CODES.failure,
  variables: { CRONLOCK_CONFIG: "file with these variables (/etc/cronlock.conf)", ...VARIABLES },
  examples: {
    "signalbox cronlock ls -al": "in place of: cronlock ls -al",
    "ln -s $(command -v signalbox) /usr/local/bin/cronlock": "so that crontabs need no change",
    "CRONLOCK_HOST=etcd1,etcd2,etcd3 CRONLOCK_GRACE=50 cronlock ./mail.sh":
      "on one of all hosts, each minute",
    "CRONLOCK_RESET=yes cronlock ./mail.sh": "end the run that holds the lock",
  },
  load: async () => (await import("./cronlock.impl.ts")).runCronlock,
});

export const golock = declareCommand({
  id: "golock",
  topic: "Migrate",
  brief: "run a command as golock does",
  about: [
    "Takes golock's command line and variables, and keeps its lock in etcd. A link named golock that leads to signalbox" +
      " does the same. Without a key, the name of the lock is golock's, which differs from cronlock's.",
    ...DIFFERENCES,
    "golock has no configuration file; if CRONLOCK_CONFIG is set, that file is read, in the form of cronlock.",
  ],
  args: ARGS,
  takesWords: true,
  failure: CRONLOCK_CODES.failure,
  variables: { CRONLOCK_CONFIG: "file with these variables (none)", ...VARIABLES },
  examples: {
    "signalbox golock command.sh": "in place of: golock command.sh",
    "CRONLOCK_KEY=ls golock ls -al": "a lock that other commands can share",
  },
  load: async () => (await import("./cronlock.impl.ts")).runGolock,
});
