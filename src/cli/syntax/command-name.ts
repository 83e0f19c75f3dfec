import { parseShellCommands, type ShellCommand } from "./shell-parser.ts";
import { findRemoteCommand, findShellText, getBaseName, unwrapWords } from "./shell-wrappers.ts";

const PREPARING_PROGRAMS =
  /^(?:\[\[?|\.|:|cd|test|source|export|set|umask|ulimit|sleep|true|echo|printf|mkdir|exit|wait|if)$/;
const INTERPRETERS = /^(?:(?:ba|da|k|z)?sh|php[\d.]*|perl|python[\d.]*|ruby|node|java)$/;
/** Addresses of monitoring services that are notified of a start or an end. */
const PING =
  /hc-ping\.com|healthchecks|cronitor\.|\/ping\/|heartbeat|uptime|deadmanssnitch|nosnch\.in|cronhub/i;
/** Maximum depth of nested shell texts. */
const MAX_SHELL_DEPTH = 3;

/**
 * Finds the name of the program or script that a line runs, without its path: `a.sh` for `/opt/a.sh`. Also finds it
 * inside `bash -lc`.
 */
export function findCommandName(
  commands: readonly Pick<ShellCommand, "words">[],
  depth = MAX_SHELL_DEPTH,
): string | undefined {
  const names = commands
    .filter(({ words }) => !isPing(words))
    .map(({ words }) => findProgramName(words, depth));
  const name = names.find((one) => one !== undefined);
  return name ?? (commands.some(({ words }) => isPing(words)) ? "ping" : undefined);
}

function isPing(words: readonly string[]): boolean {
  const program = getBaseName(words[unwrapWords(words).program] ?? "");
  return /^(?:curl|wget)$/.test(program) && words.some((word) => PING.test(word));
}

function findProgramName(line: readonly string[], depth: number): string | undefined {
  const words = line.slice(unwrapWords(line).program);
  const [program, ...args] = words;
  if (program === undefined || PREPARING_PROGRAMS.test(getBaseName(program))) return undefined;
  const nested = depth > 0 ? findNestedName(words, depth - 1) : undefined;
  if (nested !== undefined) return nested;
  const script = INTERPRETERS.test(getBaseName(program)) ? findScript(args) : undefined;
  return removeVersion(getBaseName(script ?? program));
}

function findNestedName(words: readonly string[], depth: number): string | undefined {
  const inside = findRemoteCommand(words);
  if (inside !== undefined && inside.length > 0) return findCommandName([{ words: inside }], depth);
  const text = findShellText(words);
  const commands = text === undefined ? undefined : parseShellCommands(text, new Map());
  return commands !== undefined && "value" in commands ? findCommandName(commands.value, depth) : undefined;
}

function findScript(args: readonly string[]): string | undefined {
  if (args.includes("-c") || args.includes("-e") || args.includes("-r")) return undefined;
  const at = args.findIndex((word) => !word.startsWith("-"));
  return args[at];
}

/** Removes a version from a name, so that `app-1.2.3.jar` keeps its name in the next version. */
function removeVersion(name: string): string {
  return name.replace(/[-_]v?\d+(?:\.\d+)+(?=\.[a-z]+$|$)/, "");
}

/** Folders whose entries are each one version of a program. */
const VERSION_FOLDER = /(?<=\/(?:releases?|versions?|builds?|deployments?|deploys?)\/)[^/\s'"]+/g;
/** A folder named after a time or a commit, or one from the Nix store. */
const STAMPED_FOLDER = /(?<=\/)(?:\d{8}(?:[-_T]?\d{4,6})?|(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})(?=\/)/g;
const STORE_FOLDER = /(?<=\/nix\/store\/)[0-9a-z]{32}-/g;

/**
 * Removes the parts of paths that change with each release: `/srv/app/releases/20240102030405/bin/mail` becomes
 * `/srv/app/releases/-/bin/mail`. A lock named after a path must keep its name after a release.
 */
export function removeReleaseNames(text: string): string {
  return text.replace(VERSION_FOLDER, "-").replace(STAMPED_FOLDER, "-").replace(STORE_FOLDER, "");
}
