import { basename, dirname } from "node:path";
import { createFindingBuilder, type Finding } from "../../../../core/base/finding.ts";
import { findProgram, type ProgramSearch, readInterpreter } from "../../../../core/process/programs.ts";
import {
  applyAssignments,
  applyWrapperPath,
  CRON_PATH,
  type Invocation,
  SERVICE_PATH,
} from "../../../syntax/line-commands.ts";
import { UNKNOWN_VALUE } from "../../../syntax/shell-parser.ts";
import { unwrapWords } from "../../../syntax/shell-wrappers.ts";
import type { CheckedLine } from "./signalbox.ts";

/** Builtins and syntax of shells, which need no file. */
const BUILTINS =
  /^(?:[.:]|alias|bg|break|cd|continue|declare|echo|eval|exec|exit|export|false|fg|for|function|getopts|hash|jobs|kill|let|local|popd|printf|pushd|read|readonly|return|select|set|shift|shopt|source|time|times|trap|true|type|typeset|ulimit|umask|unalias|unset|until|wait|while)$/;
/** What the name of a program can be, as opposed to syntax that is not parsed here. */
const PROGRAM = /^[\w./+@:-]*\w$/;

/** A program that is missing, or an interpreter that it needs. */
interface MissingProgram {
  name: string;
  why: string | undefined;
  /** The script that needs it. */
  neededBy?: string;
}

/** Checks that a program of a line, and the interpreter in its first line, are found with the PATH of the line. */
export function judgeProgram(
  { program, variables }: Pick<Invocation, "program" | "variables">,
  { where, searchPath = "", isPathSet }: CheckedLine,
): Finding[] {
  const path = variables.get("PATH") ?? CRON_PATH;
  const missing = findMissing(program, path);
  if (missing === undefined) return [];
  const isCrons = path === CRON_PATH && !isPathSet;
  // A cron that passes on the PATH of its service finds the program; the check cannot know whether cron does.
  const mayWork = isCrons && findMissing(program, SERVICE_PATH) === undefined;
  const detail = `${describeMissing(missing)}${describePath(missing.name, path, isCrons)}`;
  const remedy = suggestRemedy(program, missing, path, searchPath);
  return [createFindingBuilder("program", where)[mayWork ? "warning" : "failure"](detail, remedy)];
}

/** Checks the program of a command as the shell, or a tool without a shell, starts it. */
export function judgeCommand(
  words: readonly string[],
  variables: Invocation["variables"],
  line: CheckedLine,
  hasShell: boolean,
): Finding[] {
  const at = unwrapWords(words).program;
  const program = words[at] ?? "";
  if (!PROGRAM.test(program) || (hasShell && BUILTINS.test(program))) return [];
  const known = applyAssignments(applyWrapperPath(words.slice(0, at), variables), words.slice(0, at));
  return judgeProgram({ program, variables: known }, line).map((one) => ({ ...one, kind: "command" }));
}

function findMissing(program: string, path: string): MissingProgram | undefined {
  const search = find(program, path);
  if (search.kind === "missing") return { name: program, why: search.why };
  const interpreter = search.kind === "found" ? readInterpreter(search.path) : undefined;
  const found = interpreter === undefined ? undefined : find(interpreter, path);
  if (interpreter === undefined || found?.kind !== "missing") return undefined;
  return { name: interpreter, why: found.why, neededBy: program };
}

function find(name: string, path: string): ProgramSearch {
  return findProgram(name, path, (text) => text.includes(UNKNOWN_VALUE));
}

function describeMissing({ name, why, neededBy }: MissingProgram): string {
  const purpose = neededBy === undefined ? "" : `, which ${neededBy} needs to start,`;
  return `${name}${purpose} is not found${why === undefined ? "" : `: ${why}`}`;
}

function describePath(name: string, path: string, isCrons: boolean): string {
  if (name.startsWith("/")) return "";
  const origin = isCrons ? ", cron's default: there is no PATH= line above" : "";
  const literal = /[$~]/.test(path) ? "; cron does not expand variables or ~ in a PATH= line" : "";
  return `; PATH is ${path}${origin}${literal}`;
}

/** Suggests the PATH line with which everything is found, or what to install. */
function suggestRemedy(program: string, { name }: MissingProgram, path: string, searchPath: string): string {
  const wide = `${searchPath}:${SERVICE_PATH}:${dirname(process.execPath)}`;
  const file = find(name, wide);
  if (name.startsWith("/") || file.kind !== "found")
    return `install ${basename(name)} on this host, or correct its name in the line`;
  const script = name === program ? file : find(program, wide);
  const interpreter = script.kind === "found" ? readInterpreter(script.path) : undefined;
  const needed = [file, ...(interpreter === undefined ? [] : [find(interpreter, wide)])];
  const places = needed.flatMap((search) => (search.kind === "found" ? [dirname(search.path)] : []));
  const known = path.split(":").filter((folder) => folder.startsWith("/") && !/[$~]/.test(folder));
  return `write above the line: PATH=${[...new Set([...places, ...known, ...CRON_PATH.split(":")])].join(":")}`;
}
