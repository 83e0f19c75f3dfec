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

/** `A=b` before a command, or alone. */
export const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;

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

const SHELLS = /^(?:(?:ba|da|k|z)?sh|su|runuser|flock)$/;
/** Programs that start a command in another place: in a container, or on another host. */
const ELSEWHERE =
  /^(?:docker|docker-compose|podman|podman-compose|nerdctl|kubectl|oc|ssh|lxc|incus|nsenter|pct)$/;

/**
 * Returns the text that `sh -c TEXT` and similar commands run. Returns undefined for a shell that runs a file, because
 * the content of the file is unknown.
 */
export function findShellText(words: readonly string[]): string | undefined {
  const shell = words.findIndex((word) => SHELLS.test(getBaseName(word)));
  const flag = words.findIndex((word, index) => index > shell && /^(?:-[a-z]*c|--command)$/.test(word));
  if (shell < 0 || flag < 0) return findMonitoredText(words);
  const isPlain = /sh$/.test(words[shell] ?? "");
  const hasFile = words.slice(shell + 1, flag).some((word) => !/^[-+]/.test(word));
  return isPlain && hasFile ? undefined : words[flag + 1];
}

/** Returns the text of `cronitor exec KEY 'a | b'`: a single word that a shell runs. */
function findMonitoredText(words: readonly string[]): string | undefined {
  const [text = "", ...others] = words.slice(words.indexOf("exec") + 2);
  const isText = getBaseName(words[0] ?? "") === "cronitor" && words[1] === "exec" && others.length === 0;
  return isText && /\s/.test(text) ? text : undefined;
}

/** Returns the program that starts the other words in another place, if any. */
export function findRemoteStarter(words: readonly string[]): string | undefined {
  const [first = "", ...rest] = words;
  const name = getBaseName(first);
  const starts = name === "ssh" || name === "nsenter" || rest.some((word) => /^(?:exec|run)$/.test(word));
  return ELSEWHERE.test(name) && starts ? name : undefined;
}

/** Options of `exec` and `run` of docker and kubectl that take a value. */
const VALUED =
  /^(?:-[euwnvpcf]|--(?:env|user|workdir|index|env-file|name|namespace|container|volume|network|file|project-name|entrypoint))$/;

/** Returns the command that `docker compose exec SERVICE …` and similar commands start inside. */
export function findRemoteCommand(words: readonly string[]): readonly string[] | undefined {
  if (findRemoteStarter(words) === undefined) return undefined;
  const verb = words.findIndex((word) => /^(?:exec|run)$/.test(word));
  if (verb < 0) return undefined;
  let at = verb + 1;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) at += VALUED.test(word) ? 2 : 1;
  const inside = words.slice(at + 1);
  return inside[0] === "--" ? inside.slice(1) : inside;
}
