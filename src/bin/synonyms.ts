/** Words of other tools, and removed commands, with the commands to use instead. */
const SYNONYMS: Readonly<Record<string, string>> = {
  lock: "run --lock NAME -- COMMAND",
  acquire: "run --lock NAME -- COMMAND",
  exec: "run -- COMMAND",
  unlock: "reset lock NAME",
  kill: "reset",
  evict: "release",
  list: "ls",
  status: "ls",
  ps: "ls",
  get: "show",
  describe: "show",
  ui: "console",
  tui: "console",
  top: "console",
  daemon: "worker",
  cron: "schedule",
  schedules: "ls schedules",
  add: "schedule add",
  setup: "init",
  log: "history",
  audit: "ls audit",
  incident: "timeline, ls history or ls audit",
  waits: "ls queues or why NAME",
  since: "ls history --since TIME, ls audit --since TIME or timeline",
};

/** Returns what to write behind `signalbox` instead of a word; undefined for an unknown word. */
export function findSynonym(word: string): string | undefined {
  return Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
}
