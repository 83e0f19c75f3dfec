/** Words that other tools use for our commands. */
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
};

/** Returns the signalbox command for a word from another tool, or undefined for an unknown word. */
export function findSynonym(word: string): string | undefined {
  return Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
}
