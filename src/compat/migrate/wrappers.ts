import { baseName, type Start, startAt } from "./tools.ts";

/** A program that starts the one behind it. */
interface Wrapper {
  /** Letters of options that have a value. */
  valued?: string;
  /** Long options whose value is a word of its own. */
  long?: readonly string[];
  /** Words that stand before the command. */
  words?: number;
  /** The command gets an environment of its own. */
  isApart?: true;
  /** Assignments may stand before the command. */
  assigns?: true;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  nice: { valued: "n", long: ["adjustment"] },
  ionice: { valued: "cn", long: ["class", "classdata"] },
  chronic: {},
  cronic: {},
  sudo: { valued: "CDghpRrTtu", long: ["user", "group", "host", "chdir"], isApart: true, assigns: true },
  doas: { valued: "Cu", isApart: true },
  runuser: { valued: "gGu", long: ["user", "group"] },
  env: { valued: "uC", long: ["unset", "chdir"], assigns: true },
  timeout: { valued: "ks", long: ["kill-after", "signal"], words: 1 },
  nohup: {},
  setsid: {},
  time: { valued: "fo", long: ["format", "output"] },
  exec: { valued: "a" },
  command: {},
  taskset: { words: 1 },
  chrt: { valued: "TPD", words: 1 },
  chpst: { valued: "uUbe/nlLmdopfcrt" },
  setuidgid: { words: 1 },
  envdir: { words: 1 },
  softlimit: { valued: "acdflmoprst" },
  stdbuf: { valued: "ioe", long: ["input", "output", "error"] },
  "systemd-cat": { valued: "tp", long: ["identifier", "priority"] },
  "systemd-inhibit": {},
};

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** A command's words: what stands before the program, and the program. */
export interface Wrapped {
  /** The tool that is started, if any. */
  start: Start | undefined;
  /** Index of the first word that is neither an assignment nor of a wrapper: the program that does something. */
  program: number;
  /** A wrapper gives the command an environment of its own. */
  isApart: boolean;
}

/** What a command starts, behind assignments (`A=b`) and wrappers (`nice -n 10`, `sudo -u x`, `env A=b`). */
export function unwrapped(words: readonly string[]): Wrapped {
  let at = 0;
  let isApart = false;
  let assigns = true;
  for (;;) {
    while (assigns && ASSIGNMENT.test(words[at] ?? "")) at += 1;
    const start = startAt(words, at);
    const name = baseName(words[at] ?? "");
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (start !== undefined || wrapper === undefined) return { start, program: at, isApart };
    const isEmptied =
      name === "env" &&
      words.slice(at + 1, at + 3).some((word) => /^(-|-i|--ignore-environment)$/.test(word));
    const end = behind(wrapper, words, at + 1);
    const isPreserved = words
      .slice(at + 1, end)
      .some((word) => /^(?:-[A-Za-z]*E|--preserve-env$)/.test(word));
    assigns = wrapper.assigns === true;
    isApart ||= (wrapper.isApart === true && !(name === "sudo" && isPreserved)) || isEmptied;
    at = end;
  }
}

function behind(
  { valued = "", long = [], words: count = 0 }: Wrapper,
  words: readonly string[],
  from: number,
): number {
  let at = from;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) {
    at += 1;
    if (word === "--") break;
    const takes = word.startsWith("--")
      ? long.includes(word.slice(2))
      : word.length === 2 && valued.includes(word.slice(1));
    if (takes) at += 1;
  }
  return at + count;
}
