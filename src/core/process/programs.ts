import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readStart } from "./native/locate.ts";

/**
 * The result of a search for a program. `missing`: nothing can be started under that name; `why` describes a file that
 * exists but cannot be started. `unknown`: the result depends on something that cannot be determined from here.
 */
export type ProgramSearch =
  | { kind: "found"; path: string }
  | { kind: "missing"; why?: string }
  | { kind: "unknown" };

const UNKNOWN_PROGRAM: ProgramSearch = { kind: "unknown" };
/** The kernel reads at most this many bytes of a script's first line. */
const FIRST_LINE = 256;

/**
 * Searches for a program as a shell does. Starts nothing: a crontab may name programs that its reader must not run.
 * @param name  a name to look for in `path`, or an absolute path
 * @param path  folders separated by `:`
 * @param isUnknown  whether a word or a folder contains something that only the shell can expand
 */
export function findProgram(
  name: string,
  path: string,
  isUnknown: (text: string) => boolean = () => false,
): ProgramSearch {
  if (name.startsWith("/")) return isUnknown(name) ? UNKNOWN_PROGRAM : examineFile(name);
  if (name.includes("/") || isUnknown(name)) return UNKNOWN_PROGRAM; // relative to the working folder, which is not known
  const searches = path.split(":").map((folder) => searchFolder(folder, name, isUnknown));
  const index = searches.findIndex(({ kind }) => kind !== "missing");
  const explained = searches.find((search) => search.kind === "missing" && search.why !== undefined);
  return searches[index] ?? explained ?? { kind: "missing" };
}

function searchFolder(folder: string, name: string, isUnknown: (text: string) => boolean): ProgramSearch {
  if (folder === "" || folder.startsWith(".") || isUnknown(folder)) return UNKNOWN_PROGRAM;
  return folder.startsWith("/") ? examineFile(join(folder, name)) : { kind: "missing" };
}

function examineFile(path: string): ProgramSearch {
  try {
    const status = statSync(path);
    if (!status.isFile()) return { kind: "missing" };
    if ((status.mode & 0o111) !== 0) return { kind: "found", path };
    return { kind: "missing", why: `${path} is not executable` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") return UNKNOWN_PROGRAM; // no permission
    return explainDanglingLink(path);
  }
}

function explainDanglingLink(path: string): ProgramSearch {
  try {
    if (!lstatSync(path).isSymbolicLink()) return { kind: "missing" };
    return { kind: "missing", why: `${path} is a link to ${readlinkSync(path)}, which does not exist` };
  } catch {
    return { kind: "missing" };
  }
}

/**
 * Reads the interpreter from a script's first line: a name that `env` searches for, or a path.
 * @returns undefined for files that are not scripts or cannot be read. For the program of the npm package or of a clone,
 * the Node that it starts without an agent
 */
export function readInterpreter(path: string): string | undefined {
  const folder = findNpmFolder(path);
  if (folder !== undefined) return existsSync(join(folder, "node")) ? join(folder, "node") : "node";
  const [, program = "", rest = ""] =
    /^#![ \t]*(\S+)[ \t]*(.*)/.exec(readStart(path, FIRST_LINE).toString("latin1")) ?? [];
  if (program === "") return undefined;
  if (basename(program) !== "env") return program;
  const words = rest.replace(/^-S[ \t]*/, "").split(/[ \t]+/);
  return words.find((word) => word !== "" && !word.startsWith("-") && !word.includes("=")) ?? program;
}

/** Finds the folder of the shell program of the npm package or of a clone, which starts the bundle beside it. */
function findNpmFolder(path: string): string | undefined {
  try {
    const program = realpathSync(path);
    const folder = dirname(program);
    return basename(program) === "signalbox" && existsSync(join(folder, "signalbox.cjs"))
      ? folder
      : undefined;
  } catch {
    return undefined;
  }
}
