import { countLeadingOptions } from "./leading-options.ts";

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
interface UnwrappedCommand {
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

/**
 * Programs that run a command while they hold a lock, or that take a lock for the commands after them.
 * compat/lock-tools.ts translates their lines.
 */
export const LOCK_TOOLS = [
  "cronlock",
  "golock",
  "switchman",
  "zoo-locked",
  "flock",
  "setlock",
  "etcdctl",
  "consul",
  "lockrun",
  "lockf",
  "with-lock-ex",
  "lckdo",
  "dotlockfile",
  "chpst",
  "solo",
  "sem",
  "parallel",
  "run-one",
  "run-this-one",
  "keep-one-running",
  "run-one-constantly",
  "run-one-until-success",
  "run-one-until-failure",
  "lockfile",
  "lockfile-create",
  "shlock",
] as const;

export type LockToolName = (typeof LOCK_TOOLS)[number];

/** By tools that have other functions, too: whether they take a lock with these words. */
const TAKES_LOCK: Partial<Record<LockToolName, (words: readonly string[]) => boolean>> = {
  etcdctl: (words) => words.includes("lock"),
  consul: ([verb]) => verb === "lock",
  chpst: hasChpstLock,
  solo: (words) => words.some((word) => word.startsWith("-")),
  parallel: (words) => words.includes("--semaphore"),
};

/** Option letters of chpst that take a value. */
export const CHPST_VALUED = "uUbe/nlLmdopfct";

/** Returns whether chpst is called with a lock: `chpst -u me -L FILE prog`. Options can share a dash. */
function hasChpstLock(words: readonly string[]): boolean {
  for (let at = 0; words[at]?.startsWith("-") && words[at] !== "--"; at += 1) {
    const letters = words[at] ?? "";
    const valued = [...letters].findIndex((letter) => CHPST_VALUED.includes(letter));
    if (/[lL]/.test(letters[valued] ?? "")) return true;
    if (valued === letters.length - 1) at += 1;
  }
  return false;
}

/** The tools that are also front ends of signalbox: `signalbox cronlock …`. */
export const FRONT_END_NAMES = ["cronlock", "golock", "switchman", "zoo-locked"] as const;

const MENTION = new RegExp(`(?<![\\w.-])(?:${LOCK_TOOLS.join("|")})(?![\\w.-])`);

/** Whether a text contains the name of a lock tool. */
export function hasToolName(text: string): boolean {
  return MENTION.test(text);
}

/** The start of a tool in the words of a command. */
export interface ToolStart {
  /** `run` is `signalbox run`. */
  tool: LockToolName | "run";
  /** Index of its first word. */
  at: number;
  /** Number of words that name it. */
  length: number;
}

/** Returns the tool that starts at an index, if any. */
export function findToolStart(words: readonly string[], at: number): ToolStart | undefined {
  const name = getBaseName(words[at] ?? "");
  const rest = words.slice(at + 1);
  if (name === "signalbox") return findSignalboxTool(rest, at);
  const tool = LOCK_TOOLS.find((one) => one === name);
  const takesLock = tool !== undefined && (TAKES_LOCK[tool]?.(rest) ?? true);
  return takesLock ? { tool, at, length: 1 } : undefined;
}

/** Finds `run`, also after options (`signalbox --context prod run`), or a front end. @param rest  words after signalbox */
function findSignalboxTool(rest: readonly string[], at: number): ToolStart | undefined {
  const options = countLeadingOptions(rest);
  if (rest[options] === "run") return { tool: "run", at, length: options + 2 };
  const tool = FRONT_END_NAMES.find((one) => one === rest[0]);
  return tool && { tool, at, length: 2 };
}

/** The words of a command: those before the program, and the program. */
interface StartingCommand extends UnwrappedCommand {
  /** The tool that is started, if any. */
  start: ToolStart | undefined;
}

/** Finds what a command starts, after assignments (`A=b`) and wrappers (`nice -n 10`, `sudo -u x`, `env A=b`). */
export function unwrapCommand(words: readonly string[]): StartingCommand {
  const found = unwrapWords(words, (at) => findToolStart(words, at) !== undefined);
  return { ...found, start: findToolStart(words, found.program) };
}
