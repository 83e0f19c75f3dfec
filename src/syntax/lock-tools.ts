import { findRemoteStarter, findShellText } from "./nested-command.ts";
import { parseShellCommands } from "./shell-parser.ts";
import { getBaseName, unwrapWords } from "./shell-wrappers.ts";

/** Programs that run a command while holding a lock, or that take a lock for the commands after them. */
const KNOWN: ReadonlySet<string> = new Set(
  (
    "cronlock golock switchman zoo-locked flock setlock etcdctl consul lockrun run-one run-this-one keep-one-running " +
    "run-one-constantly run-one-until-success run-one-until-failure solo lockf with-lock-ex chpst sem parallel " +
    "dotlockfile lckdo lockfile lockfile-create shlock"
  ).split(" "),
);
/** Names that are typical for programs that hold a lock while a command runs. */
const LOOKALIKE =
  /^(?:.*[-_.])?(?:lock|locked|locker|lockfile|lockcmd|withlock|runlock|lockdo|trylock|[a-z]*flock|mutex|semaphore|singleton|single|single-instance|only-?one|run-?once|once-?only|run1|one-at-a-time)(?:[-_.](?:run|exec|cmd|do|sh|py|pl|rb))?$/;

/** A program that takes a lock. */
interface LockTool {
  name: string;
  /** Whether the program is a known tool. Otherwise it only resembles one by its name and arguments. */
  isKnown: boolean;
}

/** Returns the locking program that starts at an index of the words, if any. */
export function findLockToolAt(words: readonly string[], at: number): LockTool | undefined {
  const name = getBaseName(words[at] ?? "");
  const rest = words.slice(at + 1);
  if (KNOWN.has(name)) return canTakeLock(name, rest) ? { name, isKnown: true } : undefined;
  const isLike = LOOKALIKE.test(name) && hasCommand(rest);
  return isLike ? { name, isKnown: false } : undefined;
}

/** Finds a locking program after assignments and wrappers. */
function findLockTool(words: readonly string[]): LockTool | undefined {
  const isTool = (at: number) => findLockToolAt(words, at)?.isKnown === true;
  return findLockToolAt(words, unwrapWords(words, isTool).program);
}

/** Maximum depth of nested shell texts. */
const DEPTH = 3;

/** Finds all programs in a line that take a lock, including `signalbox run` and those in texts passed to a shell. */
export function findLockTools(
  line: string,
  variables: ReadonlyMap<string, string>,
  depth = DEPTH,
): readonly LockTool[] {
  const commands = parseShellCommands(line, variables);
  if ("fault" in commands) return [];
  return commands.value.flatMap(({ words }) => {
    const at = unwrapWords(words).program;
    if (getBaseName(words[at] ?? "") === "signalbox" && words[at + 1] === "run")
      return [{ name: "signalbox run", isKnown: true }];
    const tool = findLockTool(words);
    if (tool !== undefined) return [tool];
    return depth > 0
      ? listShellTexts(words).flatMap((text) => findLockTools(text, variables, depth - 1))
      : [];
  });
}

/** Lists the texts that a command passes to a shell, locally or on another host. */
function listShellTexts(words: readonly string[]): readonly string[] {
  const text = findShellText({ words });
  if (text !== undefined) return [text];
  return findRemoteStarter(words) === "ssh" ? words.slice(1).filter((word) => /\s/.test(word)) : [];
}

/** Returns whether a known tool takes a lock with these arguments. Some tools also have other functions. */
function canTakeLock(name: string, rest: readonly string[]): boolean {
  if (name === "etcdctl") return rest.includes("lock");
  if (name === "consul") return rest[0] === "lock";
  if (name === "chpst") return hasChpstLock(rest);
  if (name === "parallel") return rest.includes("--semaphore");
  if (name === "solo") return rest.some((word) => word.startsWith("-"));
  return true;
}

/** Option letters of chpst that take a value. */
const CHPST_VALUED = "uUbe/nlLmdopfct";

/** Returns whether chpst is called with a lock: `chpst -u me -L FILE prog`. Options can share a dash. */
function hasChpstLock(words: readonly string[]): boolean {
  for (let at = 0; words[at]?.startsWith("-") && words[at] !== "--"; at += 1) {
    const letters = words[at] ?? "";
    const valued = [...letters].findIndex((letter) => CHPST_VALUED.includes(letter));
    if (/[lL]/.test(letters[valued] ?? "")) return true;
    if (valued === letters.length - 1) at += 1;
  }
  return false;
}

/** Returns whether the arguments contain a lock and a command, or a command by its path. */
function hasCommand(words: readonly string[]): boolean {
  const plain = words.filter((word) => !word.startsWith("-"));
  return plain.length > 1 || plain.some((word) => word.includes("/") && !/\.(?:lock|lck|pid)$/.test(word));
}

/** Folders whose entries are each one version of a program. */
const VERSIONED = /(?<=\/(?:releases?|versions?|builds?|deployments?|deploys?)\/)[^/\s'"]+/g;
/** A folder named after a time or a commit, or one from the Nix store. */
const STAMPED = /(?<=\/)(?:\d{8}(?:[-_T]?\d{4,6})?|(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})(?=\/)/g;
const STORED = /(?<=\/nix\/store\/)[0-9a-z]{32}-/g;

/**
 * Removes the parts of paths that change with each release: `/srv/app/releases/20240102030405/bin/mail` becomes
 * `/srv/app/releases/-/bin/mail`. A lock named after a path must keep its name after a release.
 */
export function removeReleaseNames(text: string): string {
  return text.replace(VERSIONED, "-").replace(STAMPED, "-").replace(STORED, "");
}
