import { type ArgumentTable, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { JSON_FLAGS } from "../../frame/command-line/flags.ts";
import { parseWrittenPastTime } from "../../frame/command-line/instant.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

/** The arguments that name an object. */
const OBJECT_ARGUMENTS: ArgumentTable = {
  KIND: { choices: ["lock", "resource", "host", "run", "group", "schedule"], help: "kind of object" },
  NAME: { names: "lock", help: "its name; for a run its id, the beginning of its id, or HOST:PID" },
};

const SHOW_FLAGS = declareFlags({
  "--raw": "print its keys as etcd has them instead",
  "--revisions COUNT": {
    parse: createCountParser(0, 1_000),
    help: "with --raw, also print so many earlier values of each key (default: none)",
  },
  ...JSON_FLAGS,
});

export type ShowFlags = FlagsOf<typeof SHOW_FLAGS>;

const showCommand = declareCommand({
  id: "show",
  topic: "See",
  brief: "everything about one lock, resource, host, run, group or schedule",
  about: [
    "A lock without holders is shown as free, or as unknown if nothing has its name: a lock exists only while it is used, and in the" +
      " history. An unknown host, run, group or schedule is an error (exit 1). Actions of operators are shown for the last 30 days. A host, a" +
      " run or a group can be in any queue, so all queues are read for it; else only what has the name.",
    "A runner is `alive` if it renews its session on time; `quiet` if the renewal is late: frozen, cut off or gone; `gone`" +
      " if its session has ended. If the holder of a lock is not alive, the other runs of its host show whether the host is alive." +
      " etcd restarts sessions in full when its leader changes, so a runner may look alive for one time to live too long.",
    "--raw prints for each key its value, the revisions at which it was created and changed, how often it was written, and the lease" +
      " that it is attached to with its remaining time; --revisions adds earlier values, as far as etcd has not compacted them. At most" +
      " 100 keys are printed. The format of values is not stable; programs use --json without --raw.",
  ],
  args: OBJECT_ARGUMENTS,
  flags: SHOW_FLAGS,
  examples: {
    "signalbox show lock invoices": "holder, queue, history, actions of operators",
    "signalbox show host web1.example.com": "what runs and waits there",
    "signalbox show schedule backup": "its times, its workers, its last runs and their output",
    "signalbox show run web1.example.com:3121 --json": "for programs",
    "signalbox show group web --raw --revisions 5": "what the group was before, as etcd has it",
  },
  load: () => import("./show.impl.ts"),
});

const WHY_FLAGS = declareFlags({
  "--at TIME": {
    parse: parseWrittenPastTime,
    help: "explain a past time: an instant such as 2026-11-22T05:00Z (UTC), or a duration before now",
  },
  "--json": "as JSON",
});

export type WhyFlags = FlagsOf<typeof WHY_FLAGS>;

export const why = declareCommand({
  id: "why",
  topic: "See",
  brief: "why a run waits: runs ahead, missing units, drains",
  about: [
    "For a lock or a resource, explains why each of the first three runs in its queue waits; later runs wait for these. If no run" +
      " waits, a note is printed (exit 0). An unknown name is an error (exit 1).",
    "The wait for a lock is estimated from the lock's last 20 runs: the remaining time of the holder, from the runs" +
      " that took at least as long, and the usual time of each run between. There is no estimate if fewer than 3 runs are" +
      " recorded, if a drain stops the queue, or if the first run waits for a lease.",
    "With --at, explains why a schedule or a lock did not run at that time: its plan, its outcomes and skipped occurrences, the run before," +
      " pauses, drains, and the actions of operators since an hour before. Only stored history is used; the plan is the current one.",
  ],
  args: {
    "RUN|LOCK": {
      names: ["lock", "resource", "schedule"],
      help: "a run (its id, the beginning of its id, or HOST:PID), a lock or a resource; with --at a schedule or a lock",
    },
  },
  flags: WHY_FLAGS,
  examples: {
    "signalbox why invoices": "why does no run get this lock?",
    "signalbox why web2.example.com:911": "why does this run wait?",
    "signalbox why backup --at 2026-11-22T03:00Z": "why did this schedule not run at 03:00?",
    "signalbox why invoices --json | jq -r '.explanations[0].estimate.p95'": "for programs: in ms",
  },
  load: () => import("./why.impl.ts"),
});

export const SHOW_COMMANDS = [showCommand, why] as const;
