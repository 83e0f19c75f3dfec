import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { type Argument, CONNECTION_SETTINGS, type Command } from "../../spec.ts";

const RESOURCE: Argument = { name: "RESOURCE", names: "resource", help: "name of the resource" };

export const resourceSet: Command = {
  id: "resource set",
  topic: "Configure",
  brief: "set how many units of a resource there are",
  about: [
    "The total holds for every run; one that states another is refused. Without it, runs state the total themselves" +
      " (--lease db=2:10). A name or total with macros serves every host: FQDN_mem with the total MEMMB.",
    "What is not given stays as it is. Running commands are not touched by a smaller total: nothing is granted until" +
      " enough is back. Waiting runs that ask for more than there is, or state another total, leave with 78; where there" +
      " are such, it asks first, and scripts say --yes. If somebody else changes the resource meanwhile, nothing is done" +
      " (exit 75).",
  ],
  args: [
    RESOURCE,
    {
      name: "TOTAL",
      isOptional: true,
      help: "a number, or an expression over macros; without one, only the name, order and note are kept",
    },
  ],
  flags: [
    {
      name: "note",
      value: "TEXT",
      canClear: true,
      help: "a word about it, shown to others; '' takes it away",
    },
    {
      name: "order",
      value: "NUMBER",
      canClear: true,
      help: "its place in listings, smallest first; '' takes it away",
    },
    ...ACTION_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox resource set db 10", "ten units, whoever asks"],
    ["signalbox resource set FQDN_cpu CPU", "as many as each host has processors"],
    ["signalbox resource set db --note 'two of them for reports'", "the total stays"],
  ],
  load: () => import("./resource-set.impl.ts"),
};

export const resourceDelete: Command = {
  id: "resource delete",
  topic: "Configure",
  brief: "forget the configuration of a resource",
  about: [
    "Runs state its total themselves from then on; those that wait and state none leave with 78. Who holds units keeps" +
      " them.",
  ],
  args: [RESOURCE],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox resource delete db --dry-run", "who would be thrown out of the queue by that?"]],
  load: () => import("./resource-delete.impl.ts"),
};

export const resourceList: Command = {
  id: "resource list",
  topic: "Configure",
  brief: "list configured resources and their totals",
  about: ["`signalbox show resource NAME` says more about one."],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox resource list", "all resources that are configured"]],
  load: () => import("./resource-list.impl.ts"),
};
