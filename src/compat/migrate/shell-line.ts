import { applyAssignments, applyExports, NON_STARTING_PROGRAMS } from "../../cli/syntax/line-commands.ts";
import { findToolStart, hasToolName, type ToolStart, unwrapCommand } from "../../cli/syntax/lock-tools.ts";
import { parseShellCommands, type ShellCommand } from "../../cli/syntax/shell-parser.ts";
import {
  ASSIGNMENT,
  findRemoteStarter,
  findShellText,
  getBaseName,
} from "../../cli/syntax/shell-wrappers.ts";
import { quotePosixWord } from "../../core/base/shell.ts";
import { hasPrivateUseCharacters, Markers, type TextEdit, UntranslatableError } from "./migration.ts";
import { OWN_VARIABLES, type TranslationContext, translateCommand } from "./translate.ts";
import { findWatchers } from "./watchers.ts";

/** The result of rewriting a shell line. */
interface ShellRewrite {
  edits: readonly TextEdit[];
  /** Tools whose words were translated, and `run` for a line that already uses signalbox. */
  tools: readonly string[];
  notes: readonly string[];
}

const NO_EDITS: ShellRewrite = { edits: [], tools: [], notes: [] };
/** Maximum depth of nested shells. */
const MAX_SHELL_DEPTH = 3;

/**
 * Builds the edits for every tool in a line that cron passes to the shell. @throws UntranslatableError if the line
 * must stay as it is
 */
export function rewriteShell(
  text: string,
  context: TranslationContext,
  depth = MAX_SHELL_DEPTH,
): ShellRewrite {
  if (!hasToolName(text) && !text.includes("signalbox")) return NO_EDITS;
  if (hasPrivateUseCharacters(text) || [...context.variables.values()].some(hasPrivateUseCharacters))
    throw new UntranslatableError("it contains private-use characters");
  const markers = new Markers();
  const commands = parseCommands(text, context.variables, markers);
  const preceding = new PrecedingCommands(context.variables);
  let { variables } = context;
  const watchers = context.around ? undefined : findWatchers(text, commands);
  const parts = commands.map((command, index) => {
    variables = applyExports(command, variables);
    preceding.add(command);
    const watched = index === watchers?.job && { watching: watchers.options };
    return rewriteCommand(
      { text, command, markers, preceding },
      { ...context, variables, ...watched },
      depth,
    );
  });
  const tools = parts.flatMap((part) => part.tools);
  const isTaken = watchers !== undefined && parts[watchers.job]?.tools.length === 1;
  const all = isTaken ? [...parts, watchers] : parts;
  return {
    edits: all.flatMap(({ edits }) => edits),
    tools,
    notes: all.flatMap(({ notes }) => notes),
  };
}

/** Parses commands like the shell. A variable that the line itself changes has no known value. */
function parseCommands(
  text: string,
  variables: ReadonlyMap<string, string>,
  markers: Markers,
): readonly ShellCommand[] {
  const parse = (known: ReadonlyMap<string, string>, stand: Markers) => {
    const commands = parseShellCommands(text, known, stand.add);
    if ("fault" in commands) throw new UntranslatableError(`the shell would refuse it: ${commands.fault}`);
    return commands.value;
  };
  const changed = findChangedVariables(parse(variables, new Markers()));
  return parse(new Map([...variables].filter(([name]) => !changed.has(name))), markers);
}

/** A command in its line. */
interface CommandInLine {
  text: string;
  command: ShellCommand;
  markers: Markers;
  preceding: PrecedingCommands;
}

function rewriteCommand(place: CommandInLine, context: TranslationContext, depth: number): ShellRewrite {
  const { text, command, markers, preceding } = place;
  const { words } = command;
  const { start, isApart } = unwrapCommand(words);
  if (start === undefined) return rewriteNestedShell(place, context, depth);
  const { tool, at, length } = start;
  const inner = buildInnerToolNotes(words, at + length);
  if (tool === "run") {
    const { end = 0 } = command.spans[at + length - 1] ?? {};
    const watching = (context.watching ?? []).map((word) => ` ${quotePosixWord(word)}`).join("");
    const edits = watching === "" ? [] : [{ start: end, end, text: watching }];
    return { edits, tools: ["run"], notes: inner };
  }
  const before = words.slice(0, at);
  if (isApart) checkVariablesReach(tool, before, context.variables);
  const sourced = preceding.buildNotes(tool, markers);
  const variables = applyAssignments(context.variables, before);
  const located = { text, command, start: { tool, at, length }, isApart, markers };
  const { edits, notes } = translateCommand(located, { ...context, variables });
  return {
    edits,
    tools: [tool],
    notes: [...notes, ...sourced, ...inner, ...buildPathNotes(words, at, length)],
  };
}

function findNextTool(words: readonly string[], from: number): ToolStart | undefined {
  return words
    .map((_, at) => findToolStart(words, at))
    .find((start) => start !== undefined && start.at >= from);
}

/** Builds notes about a tool within another one. It stays: two locks were intended, or a migration is in progress. */
function buildInnerToolNotes(words: readonly string[], from: number): string[] {
  const inner = findNextTool(words, from);
  if (inner === undefined || inner.tool === "run") return [];
  return [
    `the command itself starts ${inner.tool}, which stays; if both take the same lock, remove it once every host has this line`,
  ];
}

/** Builds a note about a tool called by its path. That may have been necessary, because cron's PATH is short. */
function buildPathNotes(words: readonly string[], at: number, length: number): string[] {
  const word = words[at] ?? "";
  if (length === 2 || !/^\/(?!usr\/bin\/|bin\/)/.test(word)) return [];
  return [
    `${getBaseName(word)} was called by its path: check that cron's PATH finds signalbox, or give its path with --program`,
  ];
}

/** Rewrites the text that a shell receives with `-c`, if its quotes can be kept. */
function rewriteNestedShell(
  { text, command, markers }: CommandInLine,
  context: TranslationContext,
  depth: number,
): ShellRewrite {
  const { words, spans } = command;
  const inner = depth > 0 ? findShellText(command.words) : undefined;
  if (inner === undefined || !hasToolName(inner)) return checkUnknownProgram(words, markers);
  checkRunsHere(words);
  const span = spans[words.indexOf(inner)];
  const source = span === undefined ? "" : text.slice(span.start, span.end);
  const mark = source[0] ?? "";
  if (
    span === undefined ||
    !/^['"]$/.test(mark) ||
    source !== `${mark}${inner}${mark}` ||
    /[\\$`"]/.test(mark === '"' ? inner : "")
  )
    throw new UntranslatableError(
      "the tool is in a command for a shell, with quotes inside quotes; put it into a script",
    );
  const variables = isLoginShell(words) ? new Map<string, string>() : context.variables;
  const { edits, ...rest } = rewriteShell(inner, { ...context, variables }, depth - 1);
  return { ...rest, edits: edits.map((edit) => escapeEdit(edit, mark, span.start + 1)) };
}

/**
 * Checks that the tool runs on this host. In a container or on another host, signalbox would have to be installed
 * there. @throws UntranslatableError
 */
function checkRunsHere(words: readonly string[]): void {
  const program = findRemoteStarter(words.slice(unwrapCommand(words).program));
  if (program !== undefined)
    throw new UntranslatableError(
      `${program} starts the tool elsewhere; remove the tool there, and put signalbox run before ${program}`,
    );
}

/** Whether a command like `su - ben -c TEXT` drops the crontab's variables. */
function isLoginShell(words: readonly string[]): boolean {
  const at = words.findIndex((word) => /^(?:su|runuser)$/.test(getBaseName(word)));
  return at >= 0 && words.slice(at + 1).some((word) => /^(?:-|-l|--login)$/.test(word));
}

function escapeEdit({ start, end, text }: TextEdit, mark: string, offset: number): TextEdit {
  const escaped = mark === "'" ? text.replaceAll("'", "'\\''") : text.replace(/[\\"$`]/g, "\\$&");
  return { start: start + offset, end: end + offset, text: escaped };
}

/** Checks for a tool among the words of an unknown program. @throws UntranslatableError */
function checkUnknownProgram(words: readonly string[], markers: Markers): ShellRewrite {
  const program = unwrapCommand(words).program;
  const start = findNextTool(words, program + 1);
  const isSpoken = NON_STARTING_PROGRAMS.test(getBaseName(words[program] ?? ""));
  if (start === undefined || start.tool === "run" || isSpoken || start.at + 1 >= words.length)
    return NO_EDITS;
  const name = markers.restoreSource(getBaseName(words[program] ?? ""));
  throw new UntranslatableError(`whether ${name} starts ${start.tool} is not known`);
}

const NOT_EXPORTED = ", which is not exported";
/** Matches programs that may start a tool with a different environment. */
const ENVIRONMENT_CHANGERS = /(?:^|\/)(?:sudo|doas|env)$/;
/** Builtins after which the value of a variable is unknown. */
const CHANGING_BUILTINS = /^(?:unset|read|readonly|declare|typeset|local)$/;

/** Lists variables that the line itself changes, so that their values in the crontab do not apply. */
function findChangedVariables(commands: readonly ShellCommand[]): ReadonlySet<string> {
  const names = commands.flatMap(({ words }) => {
    const [first = "", ...rest] = words;
    if (first === "for") return rest.slice(0, 1);
    if (first === "export" || CHANGING_BUILTINS.test(first)) return rest.map(getVariableName);
    return words.every((word) => ASSIGNMENT.test(word)) ? words.map(getVariableName) : [];
  });
  return new Set(names);
}

function getVariableName(word: string): string {
  return word.replace(/=.*/s, "");
}

/** Collects how the commands before a tool change its variables, as far as the values cannot be known. */
class PrecedingCommands {
  readonly #exported: Set<string>;
  readonly #sources: string[] = [];
  /** By variable: the command that changed it. */
  readonly #changes = new Map<string, string>();

  /** @param variables  variables of the crontab, which every command receives */
  constructor(variables: ReadonlyMap<string, string>) {
    this.#exported = new Set(variables.keys());
  }

  add({ words }: ShellCommand): void {
    const [first = "", ...rest] = words;
    const folder = words.findIndex((word) => /(?:^|\/)(?:envdir|chpst)$/.test(word));
    if (folder >= 0) this.#sources.push(words.slice(folder, folder + 2).join(" "));
    if (first === "." || first === "source" || first === "eval")
      this.#sources.push(`${first} ${rest.join(" ")}`);
    else if (first === "export") for (const word of rest) this.#applyExport(word);
    else if (CHANGING_BUILTINS.test(first))
      for (const word of rest) this.#changes.set(getVariableName(word), `${first} ${word}`);
    else if (words.every((word) => ASSIGNMENT.test(word)))
      for (const word of words) this.#applyAssignment(word);
  }

  /** @returns notes about the next tool @throws UntranslatableError if its variables are not known */
  buildNotes(tool: string, markers: Markers): string[] {
    const own = OWN_VARIABLES[tool];
    if (own === undefined) return [];
    const [, change] = [...this.#changes].find(([name]) => own.test(name)) ?? [];
    if (change !== undefined)
      throw new UntranslatableError(
        `what ${tool} gets is not known after ${markers.restoreSource(change)}; write the variable before ${tool}`,
      );
    return this.#sources.map(
      (source) =>
        `what ${markers.restoreSource(source)} sets is not known here: check that it sets nothing of ${tool}`,
    );
  }

  #applyExport(word: string): void {
    const name = getVariableName(word);
    this.#exported.add(name);
    if (word.includes("=") || this.#changes.get(name)?.endsWith(NOT_EXPORTED) === true)
      this.#changes.delete(name);
  }

  /** Records an assignment. A shell does not pass on variables that are not exported. */
  #applyAssignment(word: string): void {
    const name = getVariableName(word);
    if (!this.#exported.has(name)) this.#changes.set(name, `${word}${NOT_EXPORTED}`);
  }
}

/**
 * Checks that the tool receives its variables from a program that may replace the environment.
 * @param variables  variables set before that program
 * @throws UntranslatableError if variables of the tool are among them and are not set again after that program
 */
function checkVariablesReach(
  tool: string,
  words: readonly string[],
  variables: ReadonlyMap<string, string>,
): void {
  const own = OWN_VARIABLES[tool];
  const at = words.findIndex((word) => ENVIRONMENT_CHANGERS.test(word));
  const listAssigned = (some: readonly string[]) =>
    some.filter((word) => ASSIGNMENT.test(word)).map(getVariableName);
  const [outside, inside] = [listAssigned(words.slice(0, at)), listAssigned(words.slice(at + 1))];
  const kept = [...variables.keys(), ...outside].find((name) => own?.test(name) && !inside.includes(name));
  if (kept === undefined) return;
  const wrapper = words[at] ?? "";
  throw new UntranslatableError(
    `${wrapper} may keep ${kept} from ${tool}; write it after the wrapper: ${wrapper} ${kept}=... ${tool}`,
  );
}
