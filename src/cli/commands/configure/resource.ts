import { UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { type ArgumentDetails, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const RESOURCE: ArgumentDetails = { names: "resource", help: "name of the resource" };

/** @throws UsageError */
function parseOrder(text: string, flag: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} must be a whole number; got ${quoteText(text)}`);
}

const RESOURCE_SET_FLAGS = declareFlags({
  "--note TEXT": { canClear: true, help: "a note, shown to others; '' removes it" },
  "--order NUMBER": {
    canClear: true,
    parse: parseOrder,
    help: "position in listings, smallest first; '' removes it",
  },
  ...ACTION_FLAGS,
});

export type ResourceSetFlags = FlagsOf<typeof RESOURCE_SET_FLAGS>;

const resourceSet = declareCommand({
  id: "resource set",
  topic: "Configure",
  brief: "set how many units of a resource there are",
  about: [
    "The total applies to every run; a run that states another total is refused. Without it, runs state the total themselves" +
      " (--lease db=2:10). A name or total with macros serves every host: FQDN_mem with the total MEMMB.",
    "Fields that are not given stay unchanged. A smaller total does not end running commands: nothing is granted until" +
      " enough units are free. Waiting runs that ask for more units than the total, or state another total, exit with 78; if there" +
      " are any, the command asks first; use --yes in scripts. If another operator changes the resource meanwhile, nothing is changed" +
      " (exit 75).",
  ],
  args: {
    RESOURCE,
    "[TOTAL]": "a number, or an expression with macros; required without --note and --order",
  },
  flags: RESOURCE_SET_FLAGS,
  examples: {
    "signalbox resource set db 10": "ten units for all runs",
    "signalbox resource set FQDN_cpu CPU": "the number of processors of each host",
    "signalbox resource set db --note 'two of them for reports'": "the total does not change",
  },
  load: async () => (await import("./resource.impl.ts")).setResource,
});

const resourceDelete = declareCommand({
  id: "resource delete",
  topic: "Configure",
  brief: "delete the configuration of a resource",
  about: [
    "Then runs state the total themselves; waiting runs that state none exit with 78. Holders keep" +
      " their units.",
  ],
  args: { RESOURCE },
  flags: ACTION_FLAGS,
  examples: { "signalbox resource delete db --dry-run": "which runs would be removed from the queue?" },
  load: async () => (await import("./resource.impl.ts")).deleteResource,
});

export const RESOURCE_COMMANDS = [resourceSet, resourceDelete] as const;
