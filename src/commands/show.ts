import { CONNECTION, type Command } from "./spec.ts";

export const show: Command = {
  id: "show",
  topic: "See",
  brief: "everything about one lock, resource, host, run or group",
  about: [
    "A lock that nobody holds is free, not unknown; a host, run or group that nobody knows is an error (exit 1). A runner is" +
      " `alive` when it renewed its session when it was due, `quiet` when it is late: frozen, cut off or gone.",
  ],
  args: [
    { name: "KIND", choices: ["lock", "resource", "host", "run", "group"], help: "what it is" },
    { name: "NAME", names: "lock", help: "its name; of a run its id, the beginning of it, or HOST:PID" },
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION,
  examples: [
    ["signalbox show lock invoices", "holder, queue, history, what operators did"],
    ["signalbox show host web1.example.com", "what runs and waits there"],
    ["signalbox show run web1.example.com:3121 --json", "for programs"],
  ],
  load: () => import("./show.run.ts"),
};

export const why: Command = {
  id: "why",
  topic: "See",
  brief: "why a run waits: who is ahead, what is missing, which drain stops it",
  about: ["Of a lock or a resource, why each of those waits who stand first in its queue."],
  args: [
    {
      name: "RUN|LOCK",
      names: "lock",
      help: "a run (its id, the beginning of it, HOST:PID), a lock or a resource",
    },
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION,
  examples: [
    ["signalbox why invoices", "why does nobody get this lock?"],
    ["signalbox why web2.example.com:911", "why does this run wait?"],
  ],
  load: () => import("./why.run.ts"),
};
