import { declareCommand } from "../../frame/command.ts";
import { JSON_FLAGS } from "../../frame/command-line/flags.ts";

/** The command that compares a fencing token with that of the holder. */
export const checkToken = declareCommand({
  id: "check token",
  topic: "Check",
  brief: "check that a fencing token is that of the present holder",
  about: [
    "For a command that has done something long, and asks before its next step whether it still holds the lock. Between the answer and the" +
      " step anything can happen, so the store that it writes to should compare tokens itself.",
    "If several runs share the lock, each of their tokens holds it.",
    "The exit code is 0 if the run with this token holds the lock, 1 if it does not (any more), 69 if etcd could not be read.",
  ],
  args: {
    LOCK: { names: "lock", help: "the lock" },
    TOKEN: { help: "the token: SIGNALBOX_TOKEN in the command of a run" },
  },
  flags: JSON_FLAGS,
  examples: {
    'signalbox check token invoices "$SIGNALBOX_TOKEN" && ./send-invoices': "still the holder?",
  },
  load: async () => (await import("./check-token.impl.ts")).compareToken,
});
