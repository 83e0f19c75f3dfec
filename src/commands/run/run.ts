import { CONNECTION_SETTINGS, type Command, LOGGING_SETTINGS } from "../spec.ts";

export const runCommand: Command = {
  id: "run",
  topic: "Run",
  brief: "run a command while holding a lock and leases",
  about: [
    "Takes the lock and the leases, runs the command while it holds them, frees them. If they are lost, or the runner" +
      " dies or freezes, the command is ended before anyone else can get them.",
    "By default a run gives up at once, without a word, when the lock is taken: put the same line into the crontab of" +
      " several hosts, and one of them runs it. Leases are waited for, first come, first served.",
  ],
  takesCommand: true,
  flags: [
    {
      name: "lock",
      aliases: ["lockname"],
      value: "NAME",
      names: "lock",
      help: "the lock (default: the command's base name)",
    },
    { name: "no-lock", help: "take no lock, only leases" },
    {
      name: "wait",
      value: "DURATION",
      isOptional: true,
      help: "queue when the lock is taken or drained, for ever or --wait=DURATION",
    },
    {
      name: "lease",
      value: "RES=COUNT[:TOTAL]",
      names: "resource",
      isRepeatable: true,
      help: "units of a resource; FQDN, HOST, CPU, MEMMB and arithmetic are understood",
    },
    { name: "dry-run", help: "print the claim and what stands in its way, change nothing" },
    { name: "json", help: "with --dry-run: as JSON" },
  ],
  settings: [
    "group",
    "host",
    "timeout",
    "maxHold",
    "leaseTimeout",
    "grace",
    "ttl",
    "terminationTimeout",
    "busyExitCode",
    "killLeftovers",
    "history",
    "label",
    "recordArgs",
    ...LOGGING_SETTINGS,
    ...CONNECTION_SETTINGS,
  ],
  examples: [
    ["signalbox run --lock invoices -- ./invoices.sh", "one host at a time; the others give up in silence"],
    ["signalbox run --wait=10m --lock backup -- ./backup.sh", "queue for up to ten minutes"],
    [
      "signalbox run --lease db=2:10 -- ./report.sh",
      "2 of the database's 10 units, however many hosts run it",
    ],
    ["signalbox run --lease FQDN_mem='4:int(MEMMB/1024)' -- ./crunch", "4 of this host's own GiB"],
    [
      "signalbox run -g web -E 0 --grace 50s -- ./rotate.sh",
      "only on hosts of a group; busy is no failure for cron",
    ],
    ["signalbox run --lease db=2:10 --dry-run -- ./report.sh", "what would stand in its way now?"],
  ],
  load: () => import("./run.impl.ts"),
};
