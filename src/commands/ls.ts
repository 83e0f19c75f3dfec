import { CONNECTION, type Command } from "./spec.ts";

export const ls: Command = {
  id: "ls",
  topic: "See",
  brief: "list locks and resources: who holds them, who waits",
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION,
  examples: [["signalbox ls", "everything that is held or waited for"]],
  load: () => import("./ls.run.ts"),
};
