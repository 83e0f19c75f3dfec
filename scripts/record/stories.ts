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
    name: "drain",
    title: "Drain a host before maintenance: the preview, the drain, and back",
    args: ["--view", "hosts"],
    steps: [
      { says: "Which hosts hold what?", keys: ["/", '"db1"', "enter"], shows: /db1/ },
      { says: "Drain it: what would happen?", keys: ["D"], shows: /drain/i },
      { says: "Say why", keys: ['"new disks"'], shows: "new disks" },
    ],
  },
];
