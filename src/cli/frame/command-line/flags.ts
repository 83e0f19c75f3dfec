import { declareFlags, type FlagsOf } from "../command.ts";
import { parseReason } from "./values.ts";

const CONFIRMATION_FLAGS = declareFlags({
  "-n, --dry-run": "show what would change, and change nothing",
  "-y, --yes": "do not ask for confirmation",
  "--reason TEXT": {
    parse: parseReason,
    help: "why; written to the audit, and shown to the runs it stops",
  },
});
const RESULT_FLAGS = declareFlags({
  "--strict": "exit with 1 if there is nothing to do",
  "--json": "print what was done as JSON",
});

/** Flags of every command that changes something. */
export const ACTION_FLAGS = declareFlags({
  ...CONFIRMATION_FLAGS,
  "--expect-revision REVISION": "refuse if the target has changed since this revision (as printed by --json)",
  ...RESULT_FLAGS,
});
/** The same, for commands that do not compare with a revision. */
export const UNGUARDED_ACTION_FLAGS = declareFlags({ ...CONFIRMATION_FLAGS, ...RESULT_FLAGS });

/** Flags of every command that only shows something. */
export const JSON_FLAGS = declareFlags({ "--json": "as JSON" });

/** The flags of a command that shows something. */
export type JsonFlags = FlagsOf<typeof JSON_FLAGS>;

export type ActionFlags = FlagsOf<typeof ACTION_FLAGS>;
