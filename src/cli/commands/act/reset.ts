import { declareFlags, declareRowCommand, type FlagsOf } from "../../frame/command.ts";
import { ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const RESET_FLAGS = declareFlags({
  "--run RUN": {
    names: "run",
    help: "with --force: of a lock or a resource, only the ticket of this run (its id, the beginning of its id, or HOST:PID)",
  },
  "--force":
    "delete the ticket at once, without asking the runner to end: for a runner that is gone. Risk: the next run may start while the old command still runs",
  "--waiting":
    "with run: only if the run still waits; one that holds something by now is left alone (exit 75)",
  "--no-wait": "do not wait for the command to end",
  "--timeout DURATION": "wait no longer than this (exit 124); the request stays in effect",
  ...ACTION_FLAGS,
});

export type ResetFlags = FlagsOf<typeof RESET_FLAGS>;

export const reset = declareRowCommand({
  id: "reset",
  topic: "Act",
  rows: {
    key: "X",
    kinds: ["lock", "resource", "run"],
    refusal: "only a held lock or resource, or a run, can be reset",
    danger: "endsRuns",
  },
  brief: "take a lock or a lease away from its holder, or end a run",
  about: [
    "Asks the runner to end its command (TERM, then KILL after its termination timeout) and to free what it holds, and" +
      " waits until the command has ended: only then can the next run start. If the runner is frozen or gone, its guardian ends the" +
      " command, or the claim is lost when the session expires; the command waits for that too.",
    "`reset run` does so for one run, whatever it holds. A run that only waits leaves all its queues, and exits with 75. If there is no such" +
      " run, nothing is changed (exit 1).",
    "It changes exactly what it has shown: if a run to end, or the next run, has changed meanwhile, nothing is" +
      " changed (exit 75), and the changes are printed. Other runs may come and go. With --yes alone nothing was shown, so `reset run` also" +
      " ends a run that waited when you looked and has started its command since; with --waiting, or with --expect-revision (`ls runs --json` prints it), it does not.",
  ],
  args: {
    KIND: { choices: ["lock", "resource", "run"], help: "lock, resource or run" },
    NAME: {
      names: "lock",
      help: "name of the lock or resource; for a run its id, the beginning of its id, or HOST:PID",
    },
  },
  flags: RESET_FLAGS,
  examples: {
    "signalbox reset lock invoices":
      "show which run would end and which is next, ask, and wait until it has ended",
    "signalbox reset lock invoices --dry-run": "only show it",
    "signalbox reset run web1.example.com:3121 --yes --reason 'stuck in a query'": "in a script",
    "signalbox reset run 7c3f --yes": "the run whose id begins with 7c3f, which holds or waits",
    "signalbox reset run 7c3f --waiting --yes": "only if it has not started its command",
    "signalbox reset lock invoices --force --yes":
      "the runner's host is gone; do not wait until its session expires",
    "signalbox reset resource db --run 7c3f --force --yes": "the same of one run among several",
  },
  load: async () => (await import("./reset.impl.ts")).resetTarget,
});
