import { parseShellCommands } from "./shell-parser.ts";
import { findRemoteStarter, findShellText, getBaseName, unwrapWords } from "./shell-wrappers.ts";

/** A process that continues after the command has ended. */
interface BackgroundProcess {
  /** For example `sleep 5 &`. */
  what: string;
  /** It inherits the command's open files, so a lock on one of them stays held as long as it runs. */
  inheritsFiles: boolean;
  /** Another program starts it, such as the daemon of docker or at, so that it is none of the command's processes. */
  isOutside: boolean;
}

/** Maximum depth of nested shell texts. */
const MAX_SHELL_DEPTH = 3;

/** Finds a process that a command leaves running, as far as its words show it. */
export function findBackgroundProcess(
  words: readonly string[],
  depth = MAX_SHELL_DEPTH,
): BackgroundProcess | undefined {
  const at = unwrapWords(words).program;
  const own = words.slice(at);
  const fork = words.slice(0, at).findIndex((word) => getBaseName(word) === "setsid");
  if (fork >= 0 && !/^(?:-[a-z]*w[a-z]*|--wait)$/.test(words[fork + 1] ?? ""))
    return createLeftChild("what setsid starts");
  const isElsewhere = findRemoteStarter(own) !== undefined;
  const text = depth > 0 && !isElsewhere ? findShellText(words) : undefined;
  return text === undefined ? findDaemon(own) : findBackgroundInText(text, depth - 1);
}

/** Finds such a process in a shell text. A later `wait` waits for all of them. */
export function findBackgroundInText(text: string, depth = MAX_SHELL_DEPTH): BackgroundProcess | undefined {
  const read = parseShellCommands(text, new Map());
  if ("fault" in read) return undefined;
  const { value: commands } = read;
  const waits = commands.findLastIndex(({ words }) => words[0] === "wait");
  for (const [index, { words, next, spans, isInBackground }] of commands.entries()) {
    const source = text.slice(spans[0]?.start, spans.at(-1)?.end);
    if (isInBackground && index > waits) return createLeftChild(`${source}${next === "&" ? "" : " …"} &`);
    const found = findBackgroundProcess(words, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

function createLeftChild(what: string): BackgroundProcess {
  return { what, inheritsFiles: true, isOutside: false };
}

/** Finds programs that start a separate process, which does not inherit their open files. */
function findDaemon([first = "", ...rest]: readonly string[]): BackgroundProcess | undefined {
  const name = getBaseName(first);
  const hasWord = (pattern: RegExp) => rest.some((word) => pattern.test(word));
  const isDetached = hasWord(/^(?:run|up)$/) && hasWord(/^(?:-[a-z]*d[a-z]*|--detach)$/);
  const isOutside =
    /^(?:at|batch)$/.test(name) ||
    (name === "systemd-run" && !hasWord(/^(?:--wait|--scope|--pipe|--pty|-[a-zA-Z]*[Pt][a-zA-Z]*)$/)) ||
    (/^(?:docker|docker-compose|nerdctl)$/.test(name) && isDetached);
  const isDaemon =
    isOutside ||
    (/^(?:daemonize|daemon|dtach|forever)$/.test(name) && rest.length > 0) ||
    name === "supervisord" ||
    (name === "pm2" && hasWord(/^(?:start|restart|reload|resurrect)$/)) ||
    (name === "start-stop-daemon" && hasWord(/^(?:-[a-zA-Z]*[bS]|--background|--start)$/)) ||
    (name === "screen" && hasWord(/^-[a-zA-Z]*d[a-zA-Z]*m|^-dm/)) ||
    (name === "tmux" && hasWord(/^-[a-zA-Z]*d/)) ||
    (/^(?:ssh|autossh)$/.test(name) && hasWord(/^-[46AaCfGgKkMNnqsTtVvXxYy]*f[46AaCfGgKkMNnqsTtVvXxYy]*$/)) ||
    (name === "podman" && isDetached);
  return isDaemon ? { what: `what ${name} starts`, inheritsFiles: false, isOutside } : undefined;
}

/**
 * Says that a worker ends a process of a command that is meant to continue.
 * @returns undefined if it finds none
 */
export function describeEndedProcess(left: BackgroundProcess | undefined): string | undefined {
  if (left === undefined || left.isOutside) return undefined;
  return (
    `it leaves a process in the background (${left.what}), which the worker ends as soon as the command has ended: let the command wait for it` +
    " (without &, or with wait at its end), or start it as a service"
  );
}
