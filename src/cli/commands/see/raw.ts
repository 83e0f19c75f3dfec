import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { createCountParser } from "../../frame/command-line/values.ts";
import { OBJECT_ARGUMENTS } from "./show.ts";

const RAW_FLAGS = declareFlags({
  "--revisions COUNT": {
    parse: createCountParser(0, 1_000),
    help: "print so many earlier values of each key (default: none)",
  },
  "--json": "as JSON",
});

/** Values of these flags. */
export type RawFlags = FlagsOf<typeof RAW_FLAGS>;

export const rawCommand = declareCommand({
  id: "raw",
  topic: "See",
  brief: "the keys of an object as etcd has them",
  about: [
    "For each key: its value, the revisions at which it was created and changed, how often it was written, and the lease that it" +
      " is attached to with its remaining time. --revisions also prints earlier values, as far as etcd has not compacted them.",
    "At most 100 keys are printed. The format of values is not stable; programs use show --json.",
  ],
  args: OBJECT_ARGUMENTS,
  flags: RAW_FLAGS,
  examples: {
    "signalbox raw lock invoices": "the tickets of its queue, and its history",
    "signalbox raw group web --revisions 5": "what the group was before",
    "signalbox raw schedule backup --json | jq '.keys[0].modRevision'": "for programs",
  },
  load: () => import("./raw.impl.ts"),
});
