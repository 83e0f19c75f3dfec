import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { COMPARED_LISTINGS } from "./compared-listings.ts";

const COMPARE_FLAGS = declareFlags({
  "--only LISTING": { choices: COMPARED_LISTINGS, help: `one of ${COMPARED_LISTINGS.join(", ")}` },
  "--json": "as JSON",
});

export type CompareFlags = FlagsOf<typeof COMPARE_FLAGS>;

export const compare = declareCommand({
  id: "compare",
  topic: "See",
  brief: "compare the states of the site at two times",
  about: [
    "Lists the rows of `ls` that differ, `-` as they were and `+` as they are at the second time, and what happened between. Ages are left" +
      " out. Reads two revisions of etcd, so it reaches as far back as etcd has not compacted them.",
    "A time is `03:00` (the last 24 hours, UTC), `yesterday 22:10`, `2h` (ago), an instant such as 2026-11-22T03:00Z, `now`, or a revision:" +
      " `rev 1234`.",
  ],
  args: { TIME: "the earlier time", "[TIME2]": "the later time (default: now)" },
  flags: COMPARE_FLAGS,
  examples: {
    "signalbox compare 2h": "what is different from two hours ago?",
    "signalbox compare 03:00 04:00 --only locks": "who held which lock before the night's job, and after it?",
  },
  load: async () => (await import("./compare.impl.ts")).compareTimes,
});
