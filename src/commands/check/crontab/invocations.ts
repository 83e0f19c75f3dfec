import type { Parsed } from "../../../base/text.ts";
import { type ShellCommand, shellCommands, UNKNOWN } from "../../../fleet/shell-words.ts";

/** Programs whose lines are understood. */
export type Tool = "signalbox" | "switchman" | Unread;
/** Front ends whose lines are seen here, and read by migrate crontab alone. */
export type Unread = (typeof UNREAD)[number];
const UNREAD = ["cronlock", "golock", "zoo-locked"] as const;

/** One start of a tool in a shell's line. */
export interface Invocation {
  tool: Tool;
  /** What it is given; for signalbox, what follows `run`. */
  words: readonly string[];
  /** Variables of its own: those before it on the line, and of the crontab. */
  variables: ReadonlyMap<string, string>;
  /** Words before it: `nice -n 10`, `chronic`. */
  wrapper: readonly string[];
  /** What stands after it: `||`, `|`, … */
  next: string;
}

const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;
/** A tool's name behind these is spoken about, and not started. */
export const SPEAKERS =
  /^(?:echo|printf|logger|grep|egrep|fgrep|pgrep|pkill|killall|man|which|type|test|\[|\[\[|cat|tail|ls|rm|apt|apt-get|systemctl)$/;
/** What a front end is started by. */
const WRAPPERS = /^(?:sudo|doas|nice|ionice|env|nohup|setsid|timeout|chronic|cronic|time|exec)$/;
const SHELLS = /^(?:(?:ba|da|k|z)?sh|su|runuser|flock)$/;
/** Shells in shells are followed so deep. */
const DEPTH = 3;

/**
 * Every start of a tool in a line, also behind wrappers (`nice`, `flock`, `sudo -u x`, `env A=b`, `cd x &&`), and in the
 * text that a shell is given with `-c`.
 * @param variables  of the crontab
 * @returns what was found; or what the shell would complain of, where the line has something to do with a tool
 */
export function invocations(
  line: string,
  variables: ReadonlyMap<string, string>,
  depth = DEPTH,
): Parsed<Invocation[]> {
  const commands = shellCommands(line, variables);
  if ("fault" in commands) return mentions(line) ? commands : { value: [] };
  const found: Invocation[] = [];
  let own = variables;
  for (const command of commands.value) {
    own = withExports(command, own);
    const outer = startIn(command, own);
    const inner = outer.length === 0 && depth > 0 ? innerText(command) : undefined;
    const nested = inner === undefined ? { value: [] } : invocations(inner, own, depth - 1);
    if ("fault" in nested) return nested;
    found.push(...outer, ...nested.value);
  }
  return { value: found };
}

/** Whether a text names a tool at all. */
export function mentions(text: string): boolean {
  return /\b(?:signalbox|switchman)\b/.test(text);
}

/** `export A=b`, or `A=b` alone, counts for the commands after it. */
export function withExports(
  { words }: ShellCommand,
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const rest = words[0] === "export" ? words.slice(1) : words;
  const isOnly = rest.length > 0 && rest.every((word) => ASSIGNMENT.test(word));
  return isOnly ? withAssigned(variables, rest) : variables;
}

export function withAssigned(
  variables: ReadonlyMap<string, string>,
  words: readonly string[],
): ReadonlyMap<string, string> {
  const assigned = words.flatMap((word) => {
    const [, name, value] = ASSIGNMENT.exec(word) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return assigned.length === 0 ? variables : new Map([...variables, ...assigned]);
}

/** What `sh -c TEXT` runs, and its like. A shell that is given a file instead runs nothing that could be seen here. */
export function innerText({ words }: ShellCommand): string | undefined {
  const shell = words.findIndex((word) => SHELLS.test(baseName(word)));
  const flag = words.findIndex((word, index) => index > shell && /^-[a-z]*c$/.test(word));
  if (shell < 0 || flag < 0) return undefined;
  const isPlain = /sh$/.test(words[shell] ?? "");
  const hasFile = words.slice(shell + 1, flag).some((word) => !word.startsWith("-"));
  return isPlain && hasFile ? undefined : words[flag + 1];
}

function startIn({ words, next }: ShellCommand, variables: ReadonlyMap<string, string>): Invocation[] {
  const start = words.findIndex((word, index) => toolAt(words, index) !== undefined && word !== UNKNOWN);
  const tool = toolAt(words, start);
  if (tool === undefined) return [];
  const wrapper = words.slice(0, start);
  const [program = ""] = wrapper.filter((word) => !ASSIGNMENT.test(word));
  if (SPEAKERS.test(baseName(program))) return [];
  const from = start + (tool === "signalbox" ? 2 : 1);
  return [{ tool, words: words.slice(from), variables: withAssigned(variables, wrapper), wrapper, next }];
}

/** A front end is taken for started where it is the command's name or follows ours; switchman also where options follow it. */
function toolAt(words: readonly string[], index: number): Tool | undefined {
  const name = baseName(words[index] ?? "");
  const after = words[index + 1];
  if (name === "signalbox" && after === "run") return "signalbox";
  const [program] = words.slice(0, index).filter((word) => !ASSIGNMENT.test(word));
  const isFirst = program === undefined || WRAPPERS.test(baseName(program));
  const isStarted = isFirst || baseName(words[index - 1] ?? "") === "signalbox";
  if (name === "switchman") return isStarted || after?.startsWith("-") === true ? "switchman" : undefined;
  return isStarted ? UNREAD.find((tool) => tool === name) : undefined;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
