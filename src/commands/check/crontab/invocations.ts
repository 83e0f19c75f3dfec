import { findNearest, type ParseResult, quoteText } from "../../../base/text.ts";
import { findRemoteStarter, findShellText } from "../../../syntax/nested-command.ts";
import { parseShellCommands, type ShellCommand, UNKNOWN } from "../../../syntax/shell-parser.ts";
import { getBaseName, unwrapWords } from "../../../syntax/shell-wrappers.ts";
import { moveLeadingOptions } from "../../command-line/leading-options.ts";

/** Programs whose crontab lines are recognized. */
type CrontabTool = "signalbox" | "switchman" | UnreadTool;
/** Front ends that are recognized here, but parsed by `migrate crontab` only. */
type UnreadTool = (typeof UNREAD_TOOLS)[number];
const UNREAD_TOOLS = ["cronlock", "golock", "zoo-locked"] as const;

/** One start of a tool in a shell command line. */
export interface Invocation {
  tool: CrontabTool;
  /** The program as written: `signalbox`, `/opt/bin/switchman`. */
  program: string;
  /** Its arguments; for signalbox, those after `run`. */
  words: readonly string[];
  /** Its variables: those before it on the line, and those of the crontab. */
  variables: ReadonlyMap<string, string>;
  /** Words before it, such as `nice -n 10` or `chronic`. */
  wrapper: readonly string[];
  /** The operator after it: `||`, `|`, … */
  next: string;
}

const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;
/** A tool's name after one of these programs is an argument and starts nothing. */
export const NON_STARTING_PROGRAMS =
  /^(?:echo|printf|logger|grep|egrep|fgrep|pgrep|pkill|killall|man|which|type|test|\[|\[\[|cat|tail|ls|rm|apt|apt-get|systemctl)$/;
/** Programs that start another program. */
const WRAPPERS = /^(?:sudo|doas|nice|ionice|env|nohup|setsid|timeout|chronic|cronic|time|exec)$/;
/** How deep nested shells are followed. */
const DEPTH = 3;

/** A simple command of a line, or of the text of `sh -c` in it. */
export interface LineCommand extends ShellCommand {
  /** The variables before it on the line, and those of the crontab. */
  variables: ReadonlyMap<string, string>;
  /** It runs in a container or on another host: `docker exec web sh -c ...`. */
  isRemote: boolean;
}

/**
 * Lists the commands of a line, also those in the text of `sh -c`.
 * @param variables  those of the crontab
 * @returns the commands; or the shell's syntax fault, if the line mentions a tool
 */
export function listLineCommands(
  line: string,
  variables: ReadonlyMap<string, string>,
  { depth = DEPTH, isRemote = false } = {},
): ParseResult<LineCommand[]> {
  const commands = parseShellCommands(line, variables);
  if ("fault" in commands) return isToolMentioned(line) ? commands : { value: [] };
  const found: LineCommand[] = [];
  let own = variables;
  for (const command of commands.value) {
    own = applyExports(command, applyReadFiles(command, own));
    const current: LineCommand = { ...command, variables: own, isRemote };
    found.push(current);
    const inner = depth > 0 ? findShellText({ words: dropRun(current) }) : undefined;
    if (inner === undefined) continue;
    const nested = listLineCommands(inner, applyWrapperPath(command.words, own), {
      depth: depth - 1,
      isRemote: isRemote || command.words.some((_, at) => isRemoteStart(command.words.slice(at))),
    });
    if ("fault" in nested) return nested;
    found.push(...nested.value);
  }
  return { value: found };
}

/** Returns the words of the command that a tool runs, because its own `-c` is not that of a shell. */
function dropRun(command: LineCommand): readonly string[] {
  const { words } = command;
  return findInvocation(command) === undefined ? words : words.slice(words.indexOf("--") + 1 || words.length);
}

function isRemoteStart(words: readonly string[]): boolean {
  return findRemoteStarter(words) !== undefined;
}

/** Reports whether a text mentions a tool. */
export function isToolMentioned(text: string): boolean {
  return /\b(?:signalbox|switchman)\b/.test(text);
}

/** Applies `export A=b`, or `A=b` alone, to the variables of the following commands. */
export function applyExports(
  { words }: ShellCommand,
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const rest = words[0] === "export" ? words.slice(1) : words;
  const isOnly = rest.length > 0 && rest.every((word) => ASSIGNMENT.test(word));
  return isOnly ? applyAssignments(variables, rest) : variables;
}

export function applyAssignments(
  variables: ReadonlyMap<string, string>,
  words: readonly string[],
): ReadonlyMap<string, string> {
  const assigned = words.flatMap((word) => {
    const [, name, value] = ASSIGNMENT.exec(word) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return assigned.length === 0 ? variables : new Map([...variables, ...assigned]);
}

/**
 * Finds the start of a tool in a command, also after wrappers (`nice`, `flock`, `sudo -u x`, `env A=b`).
 */
export function findInvocation({ words, next, variables }: LineCommand): Invocation | undefined {
  const start = words.findIndex((word, index) => findTool(words, index) !== undefined && word !== UNKNOWN);
  const tool = findTool(words, start);
  if (tool === undefined) return undefined;
  const wrapper = words.slice(0, start);
  const [program = ""] = wrapper.filter((word) => !ASSIGNMENT.test(word));
  if (NON_STARTING_PROGRAMS.test(getBaseName(program))) return undefined;
  const after = words.slice(start + 1);
  const isFront = getBaseName(words[start - 1] ?? "") === "signalbox";
  return {
    tool,
    program: words[start - (isFront ? 1 : 0)] ?? "",
    words: tool === "signalbox" ? (readRun(after) ?? []) : after,
    wrapper,
    next,
    variables: applyAssignments(applyWrapperPath(wrapper, variables), wrapper),
  };
}

/** Returns the words of `run`, with the options before it: `signalbox --context prod run ...`; undefined for other commands. */
function readRun(words: readonly string[]): readonly string[] | undefined {
  const [command, ...others] = moveLeadingOptions(words, []);
  return command === "run" ? others : undefined;
}

/**
 * Finds the tool that a word starts. A front end counts if it is the command itself or follows `signalbox`; switchman
 * also counts if an option follows it.
 */
function findTool(words: readonly string[], index: number): CrontabTool | undefined {
  const name = getBaseName(words[index] ?? "");
  const after = words[index + 1];
  if (name === "signalbox" && readRun(words.slice(index + 1)) !== undefined) return "signalbox";
  const [program] = words.slice(0, index).filter((word) => !ASSIGNMENT.test(word));
  const isFirst = program === undefined || WRAPPERS.test(getBaseName(program));
  const isStarted = isFirst || getBaseName(words[index - 1] ?? "") === "signalbox";
  if (name === "switchman") return isStarted || after?.startsWith("-") === true ? "switchman" : undefined;
  return isStarted ? UNREAD_TOOLS.find((tool) => tool === name) : undefined;
}

/**
 * Finds a misspelt tool, or a misspelt `run`, in a command with `--`: `signalbx run -- x`, `signalbox rnu -- x`,
 * `signalbox --lock a -- x`. Only these have a command after `--`.
 */
export function findMisspelling({ words }: LineCommand): string | undefined {
  const at = unwrapWords(words).program;
  const [program = "", second = "", ...rest] = words.slice(at);
  const name = getBaseName(program);
  if (![second, ...rest].includes("--")) return undefined;
  const isBare = second.startsWith("-") && !rest.some((word) => /^(?:run|schedule)$/.test(word));
  if (name === "signalbox" && (isBare || (second !== "run" && findNearest(second, ["run"]) !== undefined)))
    return `${quoteText(second)} is not a command of signalbox; did you mean: signalbox run?`;
  const tools = second === "run" ? ["signalbox"] : ["switchman", "cronlock", "zoo-locked"];
  const meant = tools.includes(name) || name === "signalbox" ? undefined : findNearest(name, tools);
  return meant === undefined
    ? undefined
    : `${quoteText(name)} is not a program of signalbox; did you mean ${meant}?`;
}

/** The PATH that Debian's cron sets if the crontab has none. */
export const CRON_PATH = "/usr/bin:/bin";
/** The PATH that cron gets from systemd. Cron passes it on if it was started with -P, as on Ubuntu. */
export const SERVICE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Programs that start another one with a PATH that the line does not show, or on another system. */
const PATH_CHANGERS =
  /^(?:sudo|doas|su|runuser|ssh|docker|podman|kubectl|lxc|lxc-attach|chroot|nsenter|unshare|systemd-run|machinectl|setpriv|nix|nix-shell|direnv|asdf|mise|conda|bundle|npx)$/;
/** Shell builtins that read a file, which may set any variable. */
const READERS = /^(?:\.|source|eval)$/;
const LOGIN_SHELL = /^(?:-[a-z]*l[a-z]*|--login|-)$/;

/** Returns the variables after a command. A command that reads a file makes PATH unknown. */
function applyReadFiles(
  { words: [first = ""] }: ShellCommand,
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return READERS.test(first) ? setUnknownPath(variables) : variables;
}

/**
 * Returns the variables that the wrapper words of a program leave to it. `sudo` and a login shell set their own PATH.
 */
export function applyWrapperPath(
  wrapper: readonly string[],
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const names = wrapper.map((word) => word.slice(word.lastIndexOf("/") + 1));
  const shell = names.findIndex((name) => /^(?:ba|da|k|z)?sh$/.test(name));
  const isLogin = shell >= 0 && wrapper.slice(shell + 1).some((word) => LOGIN_SHELL.test(word));
  const isCleared =
    names.includes("env") && wrapper.some((word) => /^(?:-i?|--ignore-environment)$/.test(word));
  const isChanged = isLogin || isCleared || names.some((name) => PATH_CHANGERS.test(name));
  return isChanged ? setUnknownPath(variables) : variables;
}

function setUnknownPath(variables: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...variables, ["PATH", UNKNOWN]]);
}
