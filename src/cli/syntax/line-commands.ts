import type { ParseResult } from "../../core/base/text.ts";
import { FRONT_END_NAMES, findToolStart, type ToolStart, unwrapCommand } from "./lock-tools.ts";
import { parseShellCommands, type ShellCommand, UNKNOWN_VALUE } from "./shell-parser.ts";
import { ASSIGNMENT, findRemoteStarter, findShellText, getBaseName, unwrapWords } from "./shell-wrappers.ts";

/** One start of a tool in a shell command line. */
export interface Invocation {
  tool: ToolStart["tool"];
  /** The program as written: `signalbox`, `/opt/bin/switchman`. */
  program: string;
  /** Its arguments; for signalbox, those of `run`. */
  words: readonly string[];
  /** Its variables: those before it on the line, and those of the crontab. */
  variables: ReadonlyMap<string, string>;
  /** Words before it, such as `nice -n 10` or `chronic`. */
  wrapper: readonly string[];
  /** The operator after it: `||`, `|`, … */
  next: string;
}

/** A tool's name after one of these programs is an argument and starts nothing. */
export const NON_STARTING_PROGRAMS =
  /^(?:echo|printf|logger|grep|egrep|fgrep|pgrep|pkill|killall|man|which|type|test|\[|\[\[|cat|tail|ls|rm|apt|apt-get|systemctl)$/;
/** How deep nested shells are followed. */
const MAX_SHELL_DEPTH = 3;

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
  { depth = MAX_SHELL_DEPTH, isRemote = false } = {},
): ParseResult<LineCommand[]> {
  const commands = parseShellCommands(line, variables);
  if ("fault" in commands) return isToolMentioned(line) ? commands : { value: [] };
  const found: LineCommand[] = [];
  let own = variables;
  for (const command of commands.value) {
    own = applyExports(command, applyReadFiles(command, own));
    const current: LineCommand = { ...command, variables: own, isRemote };
    found.push(current);
    const { words } = command;
    const isElsewhere = isRemote || words.some((_, at) => findRemoteStarter(words.slice(at)) !== undefined);
    for (const text of depth > 0 ? listShellTexts(dropRun(current)) : []) {
      const nested = listLineCommands(text, applyWrapperPath(words, own), {
        depth: depth - 1,
        isRemote: isElsewhere,
      });
      if ("fault" in nested) return nested;
      found.push(...nested.value);
    }
  }
  return { value: found };
}

/** Returns the words of the command that a tool runs, because its own `-c` is not that of a shell. */
function dropRun(command: LineCommand): readonly string[] {
  const { words } = command;
  return findInvocation(command) === undefined ? words : words.slice(words.indexOf("--") + 1 || words.length);
}

/** Lists the texts that a command passes to a shell, here or on another host. */
function listShellTexts(words: readonly string[]): readonly string[] {
  const text = findShellText(words);
  if (text !== undefined) return [text];
  return findRemoteStarter(words) === "ssh" ? words.slice(1).filter((word) => /\s/.test(word)) : [];
}

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
 * Finds the start of `signalbox run` or a front end in a command, also after wrappers (`nice`, `flock`, `sudo -u x`,
 * `env A=b`).
 */
export function findInvocation({ words, next, variables }: LineCommand): Invocation | undefined {
  const start = words.map((_, at) => findToolStart(words, at)).find((one) => one && isInvoked(one, words));
  if (start === undefined) return undefined;
  const { tool, at, length } = start;
  const wrapper = words.slice(0, at);
  const [program = ""] = wrapper.filter((word) => !ASSIGNMENT.test(word));
  if (NON_STARTING_PROGRAMS.test(getBaseName(program))) return undefined;
  return {
    tool,
    program: words[at] ?? "",
    words: [...words.slice(at + 1, at + length - 1), ...words.slice(at + length)], // `--context prod` before `run`
    wrapper,
    next,
    variables: applyAssignments(applyWrapperPath(wrapper, variables), wrapper),
  };
}

/**
 * Whether a tool is one of signalbox and is started. A front end counts if it is the program or follows `signalbox`;
 * switchman also counts if an option follows it.
 */
function isInvoked({ tool, at, length }: ToolStart, words: readonly string[]): boolean {
  if (tool === "run" || length > 1) return true;
  if (tool === "switchman" && words[at + 1]?.startsWith("-")) return true;
  return FRONT_END_NAMES.some((name) => name === tool) && unwrapWords(words).program === at;
}

/** Names that are typical for programs that hold a lock while a command runs. */
const LOOKALIKE =
  /^(?:.*[-_.])?(?:lock|locked|locker|lockfile|lockcmd|withlock|runlock|lockdo|trylock|[a-z]*flock|mutex|semaphore|singleton|single|single-instance|only-?one|run-?once|once-?only|run1|one-at-a-time)(?:[-_.](?:run|exec|cmd|do|sh|py|pl|rb))?$/;

interface LockingProgram {
  name: string;
  /** Whether the program is a known tool. Otherwise it only resembles one by its name and arguments. */
  isKnown: boolean;
}

/** Finds all programs in a line that take a lock, including `signalbox run` and those in texts passed to a shell. */
export function findLockingPrograms(
  line: string,
  variables: ReadonlyMap<string, string>,
): readonly LockingProgram[] {
  const commands = listLineCommands(line, variables);
  return "fault" in commands ? [] : commands.value.flatMap((command) => findLockingProgram(command) ?? []);
}

function findLockingProgram(command: LineCommand): LockingProgram | undefined {
  const { words } = command;
  const { program, start } = unwrapCommand(words);
  const tool = start?.tool ?? findInvocation(command)?.tool;
  if (tool !== undefined) return { name: tool === "run" ? "signalbox run" : tool, isKnown: true };
  const name = getBaseName(words[program] ?? "");
  return LOOKALIKE.test(name) && hasCommand(words.slice(program + 1)) ? { name, isKnown: false } : undefined;
}

/** Returns whether the arguments contain a lock and a command, or a command by its path. */
function hasCommand(words: readonly string[]): boolean {
  const plain = words.filter((word) => !word.startsWith("-"));
  return plain.length > 1 || plain.some((word) => word.includes("/") && !/\.(?:lock|lck|pid)$/.test(word));
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
  const names = wrapper.map(getBaseName);
  const shell = names.findIndex((name) => /^(?:ba|da|k|z)?sh$/.test(name));
  const isLogin = shell >= 0 && wrapper.slice(shell + 1).some((word) => LOGIN_SHELL.test(word));
  const isCleared =
    names.includes("env") && wrapper.some((word) => /^(?:-i?|--ignore-environment)$/.test(word));
  const isChanged = isLogin || isCleared || names.some((name) => PATH_CHANGERS.test(name));
  return isChanged ? setUnknownPath(variables) : variables;
}

function setUnknownPath(variables: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...variables, ["PATH", UNKNOWN_VALUE]]);
}
