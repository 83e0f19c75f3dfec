import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Finding } from "../../../base/finding.ts";
import { UNKNOWN } from "../../../syntax/shell-parser.ts";
import { getBaseName } from "../../../syntax/shell-wrappers.ts";
import type { LineCommand } from "./invocations.ts";

/** Commands that ask whether something exists, or create it, so that what follows may be right without it. */
const CONDITIONS = /^(?:\[{1,2}|test|case|command|which|type|hash|mkdir|install|mount)$/;
const WRITING = /^(?:>|>>|>\||&>|&>>|<>)$/;

/** Returns whether a line examines or creates files itself. The check does not judge the files of such a line. */
export function isConditional(commands: readonly LineCommand[]): boolean {
  return commands.some(
    ({ words, next }) => next === "(" || words.some((word) => CONDITIONS.test(getBaseName(word))),
  );
}

/** Finds absolute paths of `cd` and of redirections that do not exist, so that the shell does not start the command. */
export function findMissingFolders(
  commands: readonly LineCommand[],
  check: string,
  level: Finding["level"],
): Finding[] {
  const details = commands
    .filter(({ isRemote }) => !isRemote)
    .flatMap((command) => [...findMissingWorkingFolder(command), ...findMissingTargets(command)]);
  return [...new Set(details)].map((detail) => ({ kind: "folder", check, level, detail }));
}

function findMissingWorkingFolder({ words: [first, ...rest] }: LineCommand): string[] {
  const folder = rest.find((word) => !word.startsWith("-")) ?? "";
  return first === "cd" && isMissing(folder) ? [`cd ${folder}: the folder does not exist`] : [];
}

function findMissingTargets({ redirections }: LineCommand): string[] {
  return redirections.flatMap(({ operator, target }) => {
    if (operator === "<")
      return isMissing(target)
        ? [`< ${target}: the file does not exist, so the shell does not start the command`]
        : [];
    const folder = dirname(target);
    if (!WRITING.test(operator) || !isMissing(folder)) return [];
    return [
      `${operator} ${target}: the folder ${folder} does not exist, so the shell does not start the command`,
    ];
  });
}

/** Returns false for what only the shell knows: relative paths, patterns, unknown variables. */
function isMissing(path: string): boolean {
  if (!path.startsWith("/") || path.startsWith("/dev/") || path.includes(UNKNOWN) || /[*?[{]/.test(path))
    return false;
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false; // no permission to look
  }
}
