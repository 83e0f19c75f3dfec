import { CONNECTION, type Command } from "./spec.ts";

export const resourceSet: Command = {
  id: "resource set",
  topic: "Configure",
  brief: "set how many units of a resource there are",
  about: [
    "The total holds for every run; one that states another is refused. Without it, runs state the total themselves" +
      " (--lease db=2:10). A name or total with macros serves every host: FQDN_mem with the total MEMMB.",
  ],
  args: [
    { name: "RESOURCE", help: "name of the resource" },
    { name: "TOTAL", help: "a number, or an expression over macros" },
  ],
  flags: [
    { name: "note", value: "TEXT", help: "a word about it, shown to others" },
    { name: "order", value: "NUMBER", help: "its place in listings, smallest first" },
  ],
  settings: CONNECTION,
  examples: [
    ["signalbox resource set db 10", "ten units, whoever asks"],
    ["signalbox resource set FQDN_cpu CPU", "as many as each host has processors"],
  ],
  load: () => import("./resource-set.run.ts"),
};

export const resourceList: Command = {
  id: "resource list",
  topic: "Configure",
  brief: "list configured resources and their totals",
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION,
  examples: [["signalbox resource list", "all resources that have a configured total"]],
  load: () => import("./resource-list.run.ts"),
};
