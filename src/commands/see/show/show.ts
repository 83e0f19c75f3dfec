import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";

export const showCommand: Command = {
  id: "show",
  topic: "See",
  brief: "everything about one lock, resource, host, run, group or schedule",
  about: [
    "A lock that nobody holds is free, not unknown; a host, run, group or schedule that nobody knows is an error (exit 1). What operators" +
      " did is looked for in the last 30 days.",
    "A runner is `alive` when it renewed its session when it was due; `quiet` when it is late: frozen, cut off or gone; `gone`" +
      " when its session is over. Of a lock whose holder is not alive, the other runs of its host tell whether the host is." +
      " etcd restarts sessions in full when its leader changes, so a runner may look alive for one time to live too long.",
  ],
  args: [
    { name: "KIND", choices: ["lock", "resource", "host", "run", "group", "schedule"], help: "what it is" },
    { name: "NAME", names: "lock", help: "its name; of a run its id, the beginning of it, or HOST:PID" },
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox show lock invoices", "holder, queue, history, what operators did"],
    ["signalbox show host web1.example.com", "what runs and waits there"],
    ["signalbox show schedule backup", "when it runs, who runs it, its last runs and what they wrote"],
    ["signalbox show run web1.example.com:3121 --json", "for programs"],
  ],
  load: () => import("./show.impl.ts"),
};

export const why: Command = {
  id: "why",
  topic: "See",
  brief: "why a run waits: who is ahead, what is missing, which drain stops it",
  about: [
    "Of a lock or a resource, why each of the first three in its queue waits; those further back wait for them. Where nobody" +
      " waits it says so (exit 0); a name that nobody knows is an error (exit 1).",
    "How long a run may wait for a lock is judged by the lock's last 20 runs: what is left of the holder's time, as those did" +
      " that took as long already, and the usual time of everybody between. Nothing is said where less than 3 are" +
      " remembered, where a drain decides, or where whoever is first waits for a lease.",
  ],
  args: [
    {
      name: "RUN|LOCK",
      names: ["lock", "resource"],
      help: "a run (its id, the beginning of it, HOST:PID), a lock or a resource",
    },
  ],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox why invoices", "why does nobody get this lock?"],
    ["signalbox why web2.example.com:911", "why does this run wait?"],
    ["signalbox why invoices --json | jq -r '.explanations[0].estimate.p95'", "for programs: in ms"],
  ],
  load: () => import("./why.impl.ts"),
};
