import { declareCommand, declareFlags, type FlagsOf } from "../../../frame/command.ts";
import { parseWrittenPastTime } from "../../../frame/command-line/instant.ts";
import { createCountParser } from "../../../frame/command-line/values.ts";

/** The views that can be listed. */
export const LISTINGS = [
  "overview",
  "locks",
  "resources",
  "macros",
  "queues",
  "runs",
  "hosts",
  "groups",
  "drains",
  "schedules",
  "jobs",
  "workers",
  "history",
  "statistics",
  "audit",
  "problems",
] as const;

const LS_FLAGS = declareFlags({
  "--filter TEXT": { isRepeatable: true, help: "only rows with these words; for a filter without WHAT" },
  "--host HOST": { names: "host", help: "only rows about this host" },
  "--state STATE": "only rows in this state: held, waiting, drained, …",
  "--since TIME": {
    parse: parseWrittenPastTime,
    help: "history and audit: what happened since an instant such as 2026-11-22T05:00Z (UTC), or within a duration such as 2h",
  },
  "--archive[=FILE]":
    "history: what the runs and workers of this host have archived, of locks and schedules, from FILE or archiveFile; needs no etcd",
  "--sort COLUMN": "sort by this column; -COLUMN for the largest first",
  "--reverse": "reverse the order",
  "--columns A,B,…": {
    parse: (text) => text.split(",").filter(Boolean),
    help: "these columns, in this order; `help` lists all columns",
  },
  "-w, --wide": "all columns at full width",
  "-a, --all": "also locks and resources that are free",
  "--limit N": {
    parse: createCountParser(1),
    help: "only the first N rows; locks and resources by name, and the audit, are read up to there, as are queues with --json; all else is read first: the order of other rows is not that of keys",
  },
  "--watch": "update continuously: a live table, or JSON lines on a pipe or with TERM=dumb",
  "--ascii": "only ASCII characters",
  "--json": "as JSON; docs/json.md describes it",
  "--output FORMAT": { choices: ["csv", "markdown"], help: "as a table for other programs" },
});

export type LsFlags = FlagsOf<typeof LS_FLAGS>;

export const ls = declareCommand({
  id: "ls",
  topic: "See",
  brief: "list locks, queues, runs, hosts, schedules, workers, problems…",
  about: [
    "Without WHAT, lists everything that is held or waited for. A filter is one or more words; a row matches if it has all of" +
      " them. `host:`, `state:`, `holder:` or `tag:` before a word limits the search to that field. `!` before a word excludes" +
      ' rows. `/RE/` is a regular expression, `"two words"` a text with spaces, and `since:>1h` or `waiting:>3` compares' +
      " a column. docs/console.md describes the language.",
    "A listing shows one revision of etcd, which --json prints and --expect-revision of other commands accepts. On a" +
      " terminal, columns that do not fit are left out; --wide shows all.",
  ],
  args: {
    "[WHAT]": { choices: LISTINGS, help: LISTINGS.join(", ") },
    "[FILTER...]": "only rows with these words",
  },
  flags: LS_FLAGS,
  examples: {
    "signalbox ls": "everything that is held or waited for",
    "signalbox ls --state drained": "what is drained, and who still holds it",
    "signalbox ls queues host:web1": "who waits on web1",
    "signalbox ls queues 'wait:>5m' '!host:web1'": "who waits for more than 5 minutes, except on web1",
    "signalbox ls locks --all --sort -since": "all locks, the longest held first",
    "signalbox ls history state:failed --since 8h":
      "which runs of locks and schedules failed in the last 8 hours?",
    "signalbox ls history state:failed --columns ended,lock,schedule,run,output":
      "what they wrote last; signalbox logs RUN has more",
    "signalbox ls history invoices": "the last runs of a lock or a schedule; 20 are kept of each",
    "signalbox ls history --archive backup state:failed":
      "all failures of a schedule that a worker here has archived",
    "signalbox ls statistics --sort -busy": "which locks are a bottleneck?",
    "signalbox ls audit --since 2026-11-22T18:00Z": "what did operators do since the end of the last shift?",
    "signalbox ls macros": "how full is each host?",
    "signalbox ls schedules state:late": "which schedules are late?",
    "signalbox ls schedules tag:team=billing": "the schedules of a team",
    "signalbox ls problems": "is anything wrong?",
    "signalbox ls --watch": "a live table",
    "signalbox ls drains --json | jq .rows": "for programs",
    "signalbox ls history --output csv > runs.csv": "for a spreadsheet",
  },
  load: () => import("./ls.impl.ts"),
});
