/** A program that starts the command in its arguments. */
interface Wrapper {
  /** Words that must follow the name: `cronitor exec`. */
  verbs?: readonly string[];
  /** Option letters that take a value. */
  valued?: string;
  /** Long options whose value is the next word, written with two dashes or one. */
  long?: readonly string[];
  /** Number of words before the command. */
  words?: number;
  /** The command gets its own environment. */
  isApart?: true;
  /** Assignments are allowed before the command. */
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
  gosu: { words: 1 },
  "su-exec": { words: 1 },
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
  "s6-setuidgid": { words: 1 },
  envdir: { words: 1 },
  softlimit: { valued: "acdflmoprst" },
  stdbuf: { valued: "ioe", long: ["input", "output", "error"] },
  "xvfb-run": { valued: "efnpsw", long: ["server-args", "server-num", "auth-file", "error-file"] },
  "systemd-cat": { valued: "tp", long: ["identifier", "priority"] },
  "systemd-inhibit": {},
  // These notify a monitor when the command starts and how it ends.
  cronitor: {
    verbs: ["exec"],
    valued: "ekpnclu",
    words: 1,
    long: ["api-key", "ping-api-key", "hostname", "config", "log", "env", "users"],
  },
  runitor: {
    long: [
      "api-url",
      "ping-key",
      "uuid",
      "slug",
      "every",
      "on-success",
      "on-nonzero-exit",
      "on-exec-fail",
      "api-retries",
      "api-timeout",
      "ping-body-limit",
      "req-header",
    ],
  },
  "sentry-cli": {
    verbs: ["monitors", "run"],
    valued: "espr",
    words: 1,
    long: ["environment", "schedule", "check-in-margin", "max-runtime", "timezone", "auth-token"],
  },
};

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** The position of the program in the words of a command. */
export interface UnwrappedCommand {
  /** Index of the program: the first word that belongs neither to an assignment nor to a wrapper. */
  program: number;
  /** A wrapper gives the command its own environment. */
  isApart: boolean;
}

/**
 * Finds the program of a command, after assignments (`A=b`) and wrappers (`nice -n 10`, `sudo -u x`).
 * @param isProgram  returns true if the search must stop at this index, even if a wrapper starts there
 */
export function unwrapWords(
  words: readonly string[],
  isProgram: (at: number) => boolean = () => false,
): UnwrappedCommand {
  let at = 0;
  let isApart = false;
  let assigns = true;
  for (;;) {
    while (assigns && ASSIGNMENT.test(words[at] ?? "")) at += 1;
    const wrapper = findWrapper(words, at);
    if (wrapper === undefined || isProgram(at)) return { program: at, isApart };
    const end = findWrapperEnd(wrapper, words, at + 1);
    assigns = wrapper.assigns === true;
    isApart ||= hasOwnEnvironment(getBaseName(words[at] ?? ""), wrapper, words.slice(at + 1, end));
    at = end;
  }
}

function findWrapper(words: readonly string[], at: number): Wrapper | undefined {
  const name = getBaseName(words[at] ?? "");
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  const verbs = wrapper?.verbs ?? [];
  return verbs.every((verb, index) => words[at + 1 + index] === verb) ? wrapper : undefined;
}

function hasOwnEnvironment(name: string, { isApart }: Wrapper, options: readonly string[]): boolean {
  if (name === "env") return options.slice(0, 2).some((word) => /^(-|-i|--ignore-environment)$/.test(word));
  const isPreserved = options.some((word) => /^(?:-[A-Za-z]*E|--preserve-env$)/.test(word));
  return isApart === true && !(name === "sudo" && isPreserved);
}

function findWrapperEnd(
  { verbs = [], valued = "", long = [], words: count = 0 }: Wrapper,
  words: readonly string[],
  from: number,
): number {
  const skipOptions = (start: number): number => {
    let at = start;
    for (let word = words[at]; word?.startsWith("-"); word = words[at]) {
      at += 1;
      if (word === "--") break;
      const isLong = long.includes(word.replace(/^--?/, ""));
      if (isLong || (word.length === 2 && valued.includes(word.slice(1)))) at += 1;
    }
    return at;
  };
  const end = skipOptions(from + verbs.length) + count;
  return verbs.length === 0 ? end : skipOptions(end);
}

/** Returns the last part of a path. */
export function getBaseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
