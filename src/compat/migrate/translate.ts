import { runCommand } from "../../cli/commands/run/run.ts";
import { parseCall } from "../../cli/frame/command-line/parse-call.ts";
import { findBackgroundProcess } from "../../cli/syntax/background-process.ts";
import { FRONT_END_NAMES, type LockToolName, type ToolStart } from "../../cli/syntax/lock-tools.ts";
import type { ShellCommand } from "../../cli/syntax/shell-parser.ts";
import { SignalboxError } from "../../core/base/errors.ts";
import { findNameFault, quoteText } from "../../core/base/text.ts";
import { resolveConfig } from "../../core/config/config.ts";
import { getSetting, type SettingKey } from "../../core/config/settings.ts";
import type { ToolContext, TranslatedRun } from "../front-end.ts";
import { TRANSLATORS } from "../lock-tools.ts";
import {
  hasMark,
  listMarks,
  type Markers,
  type RewriteOptions,
  shiftMarks,
  type TextEdit,
  UntranslatableError,
  unshiftMarks,
} from "./migration.ts";

/** Variables that only concern a tool, and are removed with it. */
export const OWN_VARIABLES: Readonly<Record<string, RegExp>> = {
  cronlock: /^CRONLOCK_/,
  golock: /^CRONLOCK_/,
};

/**
 * Builds the edits that translate a tool's words to `signalbox run`. The text of the command itself stays. @throws
 * UntranslatableError
 */
export function translateCommand(
  located: LocatedCommand,
  context: TranslationContext,
): { edits: readonly TextEdit[]; notes: readonly string[] } {
  const { command, start, markers } = located;
  const words = command.words.slice(start.at + start.length);
  const known = { ...removeServerSettings(context), program: command.words[start.at] ?? "" };
  const meaning = translateWords(start.tool, words, known, markers);
  const asRun = applyConnectionOptions(start.tool, meaning, context);
  checkAccepted(asRun, markers);
  const behind = buildBackgroundNotes(start.tool, asRun, markers);
  const { credentials, notes } = buildCredentialEdits(asRun, located);
  if (context.around && start.length === 2)
    throw new UntranslatableError(
      `signalbox ${start.tool} already takes the lock of signalbox run; it needs nothing around it`,
    );
  const options = [...(context.watching ?? []), ...asRun.options];
  const head = formatRunStart(located, context.program, options);
  const at = getWordRange(located, start.at, start.at + 1).start;
  const edits = context.around
    ? [{ start: at, end: at, text: `${head} ` }]
    : buildReplacement(located, head, words, asRun.command);
  return {
    edits: [...credentials, ...edits],
    notes: [
      ...asRun.notes.map((note) => markers.restoreSource(note)),
      ...notes,
      ...behind,
      ...buildAroundNotes(start.tool, context),
    ],
  };
}

/**
 * Builds notes about background processes. The lock of a run is free when its command ends. @throws
 * UntranslatableError if the tool would keep its lock longer
 */
function buildBackgroundNotes(
  tool: string,
  { command, coversChildren }: TranslatedRun,
  markers: Markers,
): string[] {
  const left = findBackgroundProcess(command);
  if (left === undefined) return [];
  const what = markers.restoreSource(left.what);
  if (coversChildren && left.inheritsFiles)
    throw new UntranslatableError(
      `${what} continues in the background: ${tool} keeps its lock until that has ended too, signalbox run does not; let the` +
        " command wait for it (without &, or with wait at its end)",
    );
  return [`${what} continues when the command has ended, and the lock does not cover it, as with ${tool}`];
}

/**
 * Builds a note about `--around`: if the tool is a link to signalbox, it would wait for the lock that the line
 * already holds.
 */
function buildAroundNotes(tool: string, { around }: TranslationContext): string[] {
  if (!around || !(FRONT_END_NAMES as readonly string[]).includes(tool)) return [];
  return [
    `${tool} must be the old program there: a link to signalbox would take the same lock, and find it taken`,
  ];
}

/** @param head  the line from its program to `--` */
function buildReplacement(
  located: LocatedCommand,
  head: string,
  words: readonly string[],
  job: readonly string[],
): TextEdit[] {
  const { command, start, markers } = located;
  const kept = countKeptTail(words, job, markers);
  const bound = command.words.length - kept;
  const fresh = job.slice(0, job.length - kept);
  checkReplacedText(located, bound);
  checkWords(located, bound, fresh);
  const text = [head, ...fresh.map((word) => markers.formatWord(word))].join(" ");
  return [...removeOwnAssignments(located), { ...getWordRange(located, start.at, bound), text }];
}

function formatRunStart(located: LocatedCommand, program: string, options: readonly string[]): string {
  const { start, markers } = located;
  const own = start.length === 2 ? getWordSource(located, start.at) : program;
  return [own, "run", ...options.map((word) => markers.formatWord(word)), "--"].join(" ");
}

/**
 * Translates the words of a tool. Unknown values may only be passed on. @throws UntranslatableError if the result
 * depends on one
 */
function translateWords(
  tool: LockToolName,
  words: readonly string[],
  context: ToolContext,
  markers: Markers,
): TranslatedRun {
  const translate = TRANSLATORS[tool];
  try {
    const asRun = translate(words, context);
    if (!words.some(hasMark) && ![...context.variables.values()].some(hasMark)) return asRun;
    const variables = new Map([...context.variables].map(([name, value]) => [name, shiftMarks(value)]));
    const other = translate(words.map(shiftMarks), { ...context, variables });
    const isSame = JSON.stringify(asRun.options) === unshiftMarks(JSON.stringify(other.options));
    if (isSame && JSON.stringify(asRun.command) === unshiftMarks(JSON.stringify(other.command))) return asRun;
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    throw new UntranslatableError(markers.restoreSource(error.message));
  }
  const unknown = words.filter(hasMark).map((word) => markers.restoreSource(word));
  const remedy = tool in OWN_VARIABLES ? "name the lock in CRONLOCK_KEY" : "write the value";
  throw new UntranslatableError(
    `what ${tool} makes of ${unknown.join(" ")} is known only when the shell runs it; ${remedy}`,
  );
}

/** Counts the words at the end that are equal in both. */
function countCommonTail(words: readonly string[], command: readonly string[]): number {
  let length = 0;
  while (length < Math.min(words.length, command.length) && words.at(-1 - length) === command.at(-1 - length))
    length += 1;
  return length;
}

/**
 * Counts the words at the end that can be kept. After new words, an unquoted expansion might not stay a single word.
 */
function countKeptTail(words: readonly string[], command: readonly string[], markers: Markers): number {
  const length = countCommonTail(words, command);
  if (length === command.length) return length;
  const isUnquoted = (word: string) => listMarks(word).some((mark) => markers.get(mark)?.kind !== "quoted");
  return length - 1 - words.slice(words.length - length).findLastIndex(isUnquoted);
}

/**
 * Checks that the replaced text contains only the tool's words: no redirection, and no part of an expansion. @throws
 * UntranslatableError
 */
function checkReplacedText(located: LocatedCommand, bound: number): void {
  const { text, command, start } = located;
  const [last, next] = [command.spans[bound - 1], command.spans[bound]];
  if (next !== undefined && last?.isPart && next.isPart && last.end > next.start)
    throw new UntranslatableError(
      `${getWordSource(located, bound)} contains words of ${start.tool} and of the command; write the words`,
    );
  for (let index = start.at + 1; index < bound; index += 1) {
    const between = text.slice(command.spans[index - 1]?.end, command.spans[index]?.start);
    if (/[^ \t]/.test(between))
      throw new UntranslatableError(
        `${between.trim()} is between the words of ${start.tool}; put it at the end of the command`,
      );
  }
}

/**
 * Checks for unquoted expansions, which may become any number of words, options among them. @throws
 * UntranslatableError
 */
function checkWords(
  { command, start, markers }: LocatedCommand,
  bound: number,
  fresh: readonly string[],
): void {
  const passed = new Set(fresh.flatMap(listMarks));
  for (const word of command.words.slice(start.at + start.length, bound)) {
    const unknown = word.length === 1 ? markers.get(word) : undefined;
    if (unknown?.kind === "bare" && !passed.has(word))
      throw new UntranslatableError(
        `${unknown.source} can become any number of words; put it in quotes, or set it in the crontab`,
      );
  }
}

/** Removes assignments before the tool that only concern it, such as `CRONLOCK_KEY=x`. */
function removeOwnAssignments({ command, start }: LocatedCommand): TextEdit[] {
  const own = OWN_VARIABLES[start.tool];
  if (own === undefined) return [];
  return command.words.slice(0, start.at).flatMap((word, index) => {
    const [span, next] = [command.spans[index], command.spans[index + 1]];
    const isOwn = word.includes("=") && own.test(word) && span !== undefined && next !== undefined;
    return isOwn ? [{ start: span.start, end: next.start, text: "" }] : [];
  });
}

/**
 * Checks that `signalbox run` would accept a translation, with its own parser and settings. @throws
 * UntranslatableError
 */
function checkAccepted({ options, command }: TranslatedRun, markers: Markers): void {
  const fault = findFault([...options, "--", ...command]);
  if (fault !== undefined)
    throw new UntranslatableError(`signalbox run would refuse it: ${markers.restoreSource(fault)}`);
}

function findFault(words: readonly string[]): string | undefined {
  try {
    const { flags, settings } = parseCall(runCommand, words);
    // Credentials are only known where the line runs, and marks have no value yet.
    const known = Object.entries(settings).filter(
      ([key, value]) => getSetting(key as SettingKey).credential !== true && !hasMark(String(value)),
    );
    resolveConfig({ flags: Object.fromEntries(known), readFile: () => undefined });
    const names = Array.isArray(flags.lock) ? flags.lock.map(String) : [];
    const wrong = names.find((name) => findNameFault(name) !== undefined);
    return wrong === undefined ? undefined : `lock name ${quoteText(wrong)}: ${findNameFault(wrong)}`;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

/** Flags for the address of etcd and the login, except the one without a value. */
const CONNECTION_FLAGS = /^--(?:endpoints|user|cacert|cert|key)$/;
const INSECURE_FLAG = "--insecure-skip-tls-verify";
/** Tools whose configuration names a server other than etcd before the migration. */
const FOREIGN_TOOLS: readonly string[] = ["cronlock", "golock", "zoo-locked"];

/** Variables of cronlock for its server and the login. */
const SERVER_VARIABLES = /^CRONLOCK_(?:HOST|PORT|AUTH|TLS|TLS_SKIP_VERIFY|USE_SENTINEL|SENTINEL_\w+)$/;
const SERVER_LINE = /^[ \t]*(?:export[ \t]+)?(CRONLOCK_\w+)=.*$/gm;

/** Removes the settings of the tool's server if `noConnection` is set, because that server may not be etcd. */
function removeServerSettings(context: TranslationContext): TranslationContext {
  if (!context.noConnection) return context;
  const variables = new Map([...context.variables].filter(([name]) => !SERVER_VARIABLES.test(name)));
  const removeLine = (line: string, name: string) => (SERVER_VARIABLES.test(name) ? "" : line);
  const files = { get: (path: string) => context.files.get(path)?.replace(SERVER_LINE, removeLine) };
  return { ...context, variables, files };
}

/** Applies the connection options: removes the connection flags, or adds a note about the endpoints. */
function applyConnectionOptions(
  tool: string,
  asRun: TranslatedRun,
  { noConnection }: TranslationContext,
): TranslatedRun {
  const { options, command } = asRun;
  const at = options.indexOf("--endpoints");
  if (noConnection) {
    const isLeft = (word: string, index: number) =>
      !CONNECTION_FLAGS.test(word) &&
      !CONNECTION_FLAGS.test(options[index - 1] ?? "") &&
      word !== INSECURE_FLAG;
    return { options: options.filter(isLeft), command, notes: asRun.notes };
  }
  if (at < 0 || !FOREIGN_TOOLS.includes(tool)) return asRun;
  const note = `${options[at + 1]} is used as etcd's address; if it is the address of another server, use --no-connection, and signalbox's own configuration applies`;
  return { ...asRun, notes: [...asRun.notes, note] };
}

/**
 * Builds edits that put variables on the line. A password that is not in the line yet is not added, because everybody
 * can read the line.
 */
function buildCredentialEdits(
  { env = {} }: TranslatedRun,
  located: LocatedCommand,
): { credentials: TextEdit[]; notes: string[] } {
  const { command, isApart, markers } = located;
  const entries = Object.entries(env);
  const isSeen = entries.every(
    ([, value]) => hasMark(value) || command.words.some((word) => word.includes(value)),
  );
  if (entries.length === 0) return { credentials: [], notes: [] };
  const names = entries.map(([name]) => name).join(", ");
  if (!isSeen || isApart)
    return {
      credentials: [],
      notes: [
        `it needs ${names}, which is not put into the line, where every user can read it: set it in a line of its own, or use passwordFile`,
      ],
    };
  const at = command.spans[0]?.start ?? 0;
  const assigned = entries.map(([name, value]) => `${name}=${markers.formatWord(value)} `).join("");
  return { credentials: [{ start: at, end: at, text: assigned }], notes: [] };
}

/** What the translation of a line needs besides the line. */
export interface TranslationContext extends RewriteOptions {
  /** Environment variables of the shell and the tool, by name. */
  variables: ReadonlyMap<string, string>;
  /** Options for what watches the command from outside. */
  watching?: readonly string[];
}

/** A command that starts a tool, and its text. */
interface LocatedCommand {
  text: string;
  command: ShellCommand;
  start: ToolStart & { tool: LockToolName };
  /** A wrapper gives the tool its own environment. */
  isApart: boolean;
  markers: Markers;
}

/** Returns the range from the start of word `from` to the end of the word before `to`. */
function getWordRange({ command }: LocatedCommand, from: number, to: number): { start: number; end: number } {
  return { start: command.spans[from]?.start ?? 0, end: command.spans[to - 1]?.end ?? 0 };
}

function getWordSource({ text, command }: LocatedCommand, index: number): string {
  const { start, end } = command.spans[index] ?? { start: 0, end: 0 };
  return text.slice(start, end);
}
