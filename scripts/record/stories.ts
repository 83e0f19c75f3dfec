/** A story of an operator, as keys that are typed into the console. */
export interface Story {
  /** Name of its file. */
  name: string;
  title: string;
  args?: readonly string[];
  steps: readonly Step[];
}

interface Step {
  /** What the operator does, as the title of a marker. */
  says: string;
  /** Keys to press. A text in quotes is typed. */
  keys: readonly string[];
  /** On the screen when the step is done. */
  shows: string | RegExp;
}

export const STORIES: readonly Story[] = [
  {
    name: "why",
    title: "Why does the backup wait, and which runs wait?",
    args: ["--view", "locks"],
    steps: [
      { says: "find the backup", keys: ["/", '"backup"', "enter"], shows: /filter backup/ },
      { says: "why does it wait?", keys: ["w"], shows: /─ why backup-db/ },
      { says: "which runs wait?", keys: ["escape", "escape", ":", '"queues"', "enter"], shows: /POS/ },
    ],
  },
  {
    name: "drain",
    title: "Drain a host before maintenance: the preview, the drain, and back",
    args: ["--view", "hosts"],
    steps: [
      { says: "choose the host", keys: ["/", '"web1"', "enter"], shows: /filter web1/ },
      { says: "what would a drain do?", keys: ["D"], shows: /Enter drain/ },
      { says: "drain it", keys: ["enter"], shows: /(running|done) .*drain host web1/ },
      { says: "look at the job", keys: ["5"], shows: /waiting for|done / },
      { says: "what happens without the drain?", keys: ["2", "U"], shows: /Enter undrain/ },
      { says: "lift it", keys: ["enter"], shows: /done .*undrain host web1/ },
    ],
  },
  {
    name: "past",
    title: "What happened half a minute ago?",
    args: ["--view", "resources"],
    steps: [
      { says: "the state half a minute ago", keys: ["a", '"-30s"', "enter"], shows: /PAST/ },
      { says: "the changes after it", keys: ["}", "}", "}"], shows: /PAST/ },
      { says: "the queues then", keys: ["]", "]"], shows: /PAST/ },
      { says: "back to now", keys: ["a"], shows: /live rev/ },
    ],
  },
];
