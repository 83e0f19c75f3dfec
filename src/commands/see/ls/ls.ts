import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";

/** The views that can be listed. */
export const LISTINGS = [
  "overview",
  "locks",
  "resources",
  "queues",
  "runs",
  "hosts",
  "groups",
  "drains",
  "schedules",
  "workers",
  "history",
  "audit",
  "problems",
] as const;

export const ls: Command = {
  id: "ls",
  topic: "See",
  brief: "list what there is: locks, queues, runs, hosts, schedules, workers, problems…",
  about: [
    "Without a word, everything that is held or waited for. A filter is any number of words, all of which must be found in a" +
      " row; `host:`, `state:` and `holder:` before a word look there only.",
    "A listing is true at one revision of etcd, which --json states and --expect-revision of other commands takes. On a" +
      " terminal, columns that find no room are left out; --wide shows them all.",
  ],
  args: [
    { name: "WHAT", isOptional: true, choices: LISTINGS, help: LISTINGS.join(", ") },
    { name: "FILTER", isOptional: true, isRest: true, help: "only rows with these words" },
  ],
  flags: [
    {
      ...{ name: "filter", value: "TEXT", isRepeatable: true },
      help: "only rows with these words; where WHAT is left out, the only way to say so",
    },
    { name: "host", value: "HOST", names: "host", help: "only what has to do with this host" },
    { name: "state", value: "STATE", help: "only what is held, waiting, drained, …" },
    { name: "sort", value: "COLUMN", help: "order by this column; -COLUMN for the largest first" },
    { name: "reverse", help: "the other way round" },
    { name: "columns", value: "A,B,…", help: "these columns, in this order; `help` lists those there are" },
    { name: "wide", short: "w", help: "all columns, however wide, and nothing cut" },
    { name: "all", short: "a", help: "also locks and resources that are free" },
    { name: "limit", value: "N", help: "only the first N rows" },
    { name: "watch", help: "go on showing it as it changes: a live table, or JSON lines on a pipe" },
    { name: "ascii", help: "no signs but ASCII's" },
    { name: "json", help: "as JSON; docs/json.md has its shape" },
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox ls", "everything that is held or waited for"],
    ["signalbox ls --state drained", "what is drained, and who still holds it"],
    ["signalbox ls queues host:web1", "who waits on web1"],
    ["signalbox ls locks --all --sort -since", "all locks, those that are held longest first"],
    ["signalbox ls history state:failed --limit 10", "what failed lately?"],
    ["signalbox ls schedules state:late", "what should have run, and does not?"],
    ["signalbox ls problems", "is anything wrong?"],
    ["signalbox ls --watch", "a live table"],
    ["signalbox ls drains --json | jq .rows", "for programs"],
  ],
  load: () => import("./ls.impl.ts"),
};
