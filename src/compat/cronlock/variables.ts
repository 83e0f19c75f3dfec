import { readlinkSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../../core/base/errors.ts";
import { clean, quoteText } from "../../core/base/text.ts";
import { type Env, readOrThrow } from "../../core/config/files.ts";
import { readPlainFile } from "../front-end.ts";

/** The supported tools. They differ in details. */
export type CronlockTool = "cronlock" | "golock";

/** The value of a variable, and its source: `environment CRONLOCK_HOST`, `/etc/cronlock.conf: CRONLOCK_HOST`. */
export interface SourcedValue {
  value: string;
  source: string;
}

/** The variables of a tool. An empty one counts as unset, as for the tools. */
export class ToolVariables {
  readonly #env: ReadonlyMap<string, string>;
  readonly #file: ReadonlyMap<string, SourcedValue>;

  /**
   * @param path  the configuration file of the assignments. They override the environment, because a file is sourced
   * last.
   */
  constructor(env: ReadonlyMap<string, string>, assignments: readonly Assignment[] = [], path = "") {
    this.#env = env;
    this.#file = new Map(
      assignments.map(({ name, value }) => [name, { value, source: `${clean(path)}: ${name}` }]),
    );
  }

  /** @throws ConfigError with the source, if the value is not UTF-8 */
  get(name: string): SourcedValue | undefined {
    const value = this.#env.get(name) ?? "";
    const found = this.#file.get(name) ?? { value, source: `environment ${name}` };
    // Invalid UTF-8 was replaced when it was read. Two keys could become the same and block each other's commands.
    if (found.value.includes("\ufffd")) throw new ConfigError(`${found.source}: it is not UTF-8`);
    return found.value === "" ? undefined : found;
  }

  getText(name: string): string | undefined {
    return this.get(name)?.value;
  }

  /** Whether the variable is set, even to an empty value. */
  isSet(name: string): boolean {
    return this.#file.has(name) || this.#env.has(name);
  }

  /** Whether the value is `yes`, the only word for true that the tools accept. */
  isYes(name: string): boolean {
    return this.getText(name) === "yes";
  }

  /**
   * As `isYes`, but refuses other words, which the user may have meant as yes. @throws ConfigError with the source
   */
  isExplicitYes(name: string): boolean {
    const found = this.get(name);
    if (found === undefined || found.value === "no") return false;
    if (found.value === "yes") return true;
    throw new ConfigError(`${found.source}: ${quoteText(found.value)} is neither yes nor no`);
  }

  /** Parses a whole number. @throws ConfigError with the source */
  getCount(name: string, standard: number, { least = 0, most = 999_999_999 } = {}): number {
    const found = this.get(name);
    if (found === undefined) return standard;
    const value = /^\d{1,9}$/.test(found.value) ? Number(found.value) : Number.NaN;
    if (value >= least && value <= most) return value;
    const wanted = `a whole number from ${least} to ${most}`;
    throw new ConfigError(`${found.source}: ${quoteText(found.value)} is not ${wanted}`);
  }

  /** Parses a boolean in any form that one of the tools accepts. @throws ConfigError with the source */
  getBoolean(name: string): boolean {
    const found = this.get(name);
    if (found === undefined) return false;
    const word = found.value.toLowerCase();
    if (["yes", "true", "t", "1", "on"].includes(word)) return true;
    if (["no", "false", "f", "0", "off"].includes(word)) return false;
    throw new ConfigError(
      `${found.source}: ${quoteText(found.value)} is neither yes (true, 1) nor no (false, 0)`,
    );
  }
}

/** The default configuration file of cronlock, used if no other is named and there is none beside the program. */
export const SYSTEM_FILE = "/etc/cronlock.conf";

/**
 * Reads the file named in CRONLOCK_CONFIG; otherwise, with cronlock, the one beside the program, or in /etc. golock
 * has no default file and reads only a named one.
 * @param program  path by which this process was called
 * @throws ConfigError if the file is missing, cannot be read or holds more than assignments
 */
export function readCronlockConfig(tool: CronlockTool, env: Env, program: string): ShellFile | undefined {
  const { CRONLOCK_CONFIG: named = "" } = env;
  const path =
    named !== "" ? named : tool === "cronlock" ? listDefaultPaths(program).find(isFile) : undefined;
  if (path === undefined) return undefined;
  const file = readOrThrow(path, readPlainFile);
  if (file === undefined) throw new ConfigError(`${clean(path)} does not exist; CRONLOCK_CONFIG names it`);
  return { path, assignments: parseShellFile(path, file.text, env) };
}

/**
 * Lists the default paths. Like cronlock, follows a link to the program once: a link to signalbox replaces cronlock.
 */
function listDefaultPaths(program: string): string[] {
  const folders = [...readLinkTarget(program), program].map(dirname);
  return [...folders.map((folder) => `${folder}/cronlock.conf`), SYSTEM_FILE];
}

function readLinkTarget(program: string): string[] {
  try {
    return [resolve(dirname(program), readlinkSync(program))];
  } catch {
    return []; // not a link
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A variable assignment in a sourced file. */
interface Assignment {
  name: string;
  value: string;
  /** From 1. */
  line: number;
  /** Whether the file exports it. */
  isExported: boolean;
}

/** A file of assignments. */
export interface ShellFile {
  path: string;
  assignments: readonly Assignment[];
}

const VARIABLE_NAME = /^[A-Za-z_]\w*/;
/** Matches `$NAME`, `${NAME}` and `${NAME:-other}`. */
const EXPANSION = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^{}$`"'\\\n]*))?\})/;
const UNDERSTOOD_LINES = 'only assignments such as CRONLOCK_HOST="etcd1.example.com" are understood here';

/**
 * Parses a file that cronlock sources: assignments with shell quotes, `export`, comments, and `$NAME` of earlier
 * assignments and of the environment. Runs nothing. Errors do not repeat values, because they may be passwords.
 * @param path  for errors
 * @returns the assignments in order
 * @throws ConfigError naming file and line, for any other shell syntax
 */
export function parseShellFile(
  path: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Assignment[] {
  const found: Assignment[] = [];
  let at = 0;
  const values = new Map(Object.entries(env));

  const strange = /[\0\r]/.exec(text);
  at = strange?.index ?? 0;
  if (strange?.[0] === "\r") throw createError("its lines end in carriage returns; remove them");
  if (strange !== null) throw createError("it contains a NUL character");
  while (skipTo(/[^\s;]/)) parseStatement();
  return found;

  /** Parses assignments or an export, up to the end of the line. */
  function parseStatement(): void {
    const isExport = /^export(?=[ \t])/.test(getRest());
    if (isExport) at += "export".length;
    while (skipBlanks()) parseAssignment(isExport);
  }

  function parseAssignment(isExport: boolean): void {
    const start = at;
    const [name] = VARIABLE_NAME.exec(getRest()) ?? [];
    if (name === undefined) throw createError(UNDERSTOOD_LINES);
    at += name.length;
    if (isExport && /^(?:[\s;]|$)/.test(getRest())) return markExported(name);
    if (text[at] !== "=") throw createError(UNDERSTOOD_LINES);
    at += 1;
    const value = parseWord();
    values.set(name, value);
    found.push({ name, value, line: getLineNumber(start), isExported: isExport });
  }

  /** Handles `export NAME`: exports the variable with its present value. */
  function markExported(name: string): void {
    const last = found.findLast((one) => one.name === name);
    if (last !== undefined) last.isExported = true;
  }

  /** Parses a word to its end, removes quotes and expands variables. */
  function parseWord(): string {
    if (text[at] === "~") throw createError('"~" is not understood; write the whole path');
    let word = "";
    for (let char = text[at]; char !== undefined && !/[\s;]/.test(char); ) {
      word += parsePiece(char);
      char = text[at];
    }
    return word;
  }

  function parsePiece(char: string): string {
    if (char === "'") return parseSingleQuoted();
    if (char === '"') return parseDoubleQuoted();
    if (char === "$") return parseExpansion();
    if (/[`|&<>()]/.test(char))
      throw createError(`${JSON.stringify(char)} is not understood; ${UNDERSTOOD_LINES}`);
    if (char !== "\\") return readChars(1);
    at += 1;
    const next = readChars(1);
    return next === "\n" ? "" : next;
  }

  function parseSingleQuoted(): string {
    const end = text.indexOf("'", at + 1);
    if (end < 0) throw createError("a single quote is not closed");
    const inner = text.slice(at + 1, end);
    at = end + 1;
    return inner;
  }

  function parseDoubleQuoted(): string {
    const start = at;
    let inner = "";
    at += 1;
    for (let char = text[at]; char !== '"'; char = text[at]) {
      if (char === undefined) {
        at = start;
        throw createError("a double quote is not closed");
      }
      inner += parseQuotedPiece(char);
    }
    at += 1;
    return inner;
  }

  /**
   * Parses a piece within double quotes, where a backslash is literal unless it precedes `"`, `$`, a backtick, a
   * backslash or a line break.
   */
  function parseQuotedPiece(char: string): string {
    if (char === "$") return parseExpansion();
    if (char === "`") throw createError(`"\`" is not understood; ${UNDERSTOOD_LINES}`);
    if (char !== "\\") return readChars(1);
    const pair = readChars(2);
    if (pair === "\\\n") return "";
    return /^\\["$`\\]$/.test(pair) ? pair.slice(1) : pair;
  }

  function parseExpansion(): string {
    const match = EXPANSION.exec(getRest());
    if (match === null)
      throw createError(
        `of "$" only $NAME, \${VARIABLE_NAME} and \${VARIABLE_NAME:-TEXT} are understood: the file is read, never run`,
      );
    at += match[0].length;
    const value = values.get(match[1] ?? match[2] ?? "") ?? "";
    return value === "" ? (match[3] ?? "") : value;
  }

  /** Skips blanks and a comment. @returns whether more text follows on the same line */
  function skipBlanks(): boolean {
    at += /^(?:[ \t]|\\\n)*(?:#[^\n]*)?/.exec(getRest())?.[0].length ?? 0;
    const next = text[at];
    return next !== undefined && next !== "\n" && next !== ";";
  }

  /** Skips to the next statement, past comments. @returns whether there is one */
  function skipTo(wanted: RegExp): boolean {
    at += /^(?:[\s;]|#[^\n]*)*/.exec(getRest())?.[0].length ?? 0;
    return wanted.test(text[at] ?? "");
  }

  function readChars(count: number): string {
    const taken = text.slice(at, at + count);
    at += count;
    return taken;
  }

  function getRest(): string {
    return text.slice(at);
  }

  function getLineNumber(index: number): number {
    return text.slice(0, index).split("\n").length;
  }

  function createError(what: string): ConfigError {
    return new ConfigError(`${clean(path)}:${getLineNumber(at)}: ${what}`);
  }
}
