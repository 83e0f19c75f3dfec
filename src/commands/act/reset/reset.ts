import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { CONNECTION_SETTINGS, type Command, type Flag } from "../../spec.ts";

const EVICTION_FLAGS: readonly Flag[] = [
  {
    name: "force",
    help: "delete the ticket at once instead of asking: for a runner that is gone. The next run may start while a command that is cut off is still alive",
  },
  { name: "no-wait", help: "do not wait for the command to end" },
  { name: "timeout", value: "DURATION", help: "wait no longer than this (exit 124); what was asked stands" },
  ...ACTION_FLAGS,
];

export const reset: Command = {
  id: "reset",
  topic: "Act",
  key: "X",
  brief: "take a lock or a lease away from its holder",
  about: [
    "Asks the runner to end its command (TERM, then KILL after its termination timeout) and to free what it holds, and" +
      " waits until it is dead: only then may the next one start. A runner that is frozen or gone is ended by its guardian," +
      " or loses its claim when its session expires; that is waited for too.",
    "It acts on exactly what it has shown: if a run that it ends, or the run that is next, has changed meanwhile, nothing is" +
      " done (exit 75), and it says what changed. Other runs may come and go.",
  ],
  args: [
    { name: "KIND", choices: ["lock", "resource"], help: "lock or resource" },
    { name: "NAME", names: "lock", help: "its name" },
  ],
  flags: [
    {
      name: "run",
      value: "RUN",
      names: "run",
      help: "only this run (its id, the beginning of it, or HOST:PID)",
    },
    ...EVICTION_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    [
      "signalbox reset lock invoices",
      "shows who would be ended and who is next, asks, and waits until it is done",
    ],
    ["signalbox reset lock invoices --dry-run", "only shows"],
    [
      "signalbox reset resource db --run web1.example.com:3121 --yes --reason 'stuck in a query'",
      "in a script",
    ],
    [
      "signalbox reset lock invoices --force --yes",
      "the runner's host is gone, and nobody can wait for its session",
    ],
  ],
  load: () => import("./reset.impl.ts"),
};

export const release: Command = {
  id: "release",
  topic: "Act",
  key: "K",
  brief: "throw a waiting run out of its queues",
  about: [
    "The run leaves every queue it waits in, and exits with 75. A run that holds is not touched: that is `reset`.",
  ],
  args: [{ name: "RUN", names: "run", help: "id of the run, the beginning of it, or HOST:PID" }],
  flags: EVICTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox release 7c3f --yes", "the run whose id begins so"]],
  load: () => import("./release.impl.ts"),
};
