import { parseShellCommands } from "../cli/syntax/shell-parser.ts";
import { findShellText, getBaseName, unwrapWords } from "../cli/syntax/shell-wrappers.ts";

/** A process that continues after the command has ended. */
interface BackgroundProcess {
  /** For example `sleep 5 &`. */
  what: string;
  /** It inherits the command's open files, so a lock on one of them stays held as long as it runs. */
  inheritsFiles: boolean;
}

/** Maximum depth of nested shell texts. */
const MAX_SHELL_DEPTH = 3;

/** Finds a process that a command leaves running, as far as its words show it. */
export function findBackgroundProcess(
  words: readonly string[],
  depth = MAX_SHELL_DEPTH,
): BackgroundProcess | undefined {
  const at = unwrapWords(words).program;
  const fork = words.slice(0, at).findIndex((word) => getBaseName(word) === "setsid");
  if (fork >= 0 && !/^(?:-[a-z]*w[a-z]*|--wait)$/.test(words[fork + 1] ?? ""))
    return { what: "what setsid starts", inheritsFiles: true };
  const text = depth > 0 ? findShellText(words) : undefined;
  return text === undefined ? findDaemon(words.slice(at)) : findBackgroundInText(text, depth - 1);
}

/** Finds such a process in a shell text. A later `wait` waits for all of them. */
export function findBackgroundInText(text: string, depth = MAX_SHELL_DEPTH): BackgroundProcess | undefined {
  const read = parseShellCommands(text, new Map());
  if ("fault" in read) return undefined;
  const { value: commands } = read;
  const waits = commands.findLastIndex(({ words }) => words[0] === "wait");
  for (const [index, { words, next, spans }] of commands.entries()) {
    const source = text.slice(spans[0]?.start, spans.at(-1)?.end);
    if (next === "&" && index > waits) return { what: `${source} &`, inheritsFiles: true };
    const found = findBackgroundProcess(words, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds programs that start a separate process, which does not inherit their open files. */
function findDaemon([first = "", ...rest]: readonly string[]): BackgroundProcess | undefined {
  const name = getBaseName(first);
  const hasWord = (pattern: RegExp) => rest.some((word) => pattern.test(word));
  const isDaemon =
    /^(?:daemonize|daemon|at|batch|dtach)$/.test(name) ||
    (name === "start-stop-daemon" && hasWord(/^(?:-[a-zA-Z]*b|--background)$/)) ||
    (name === "screen" && hasWord(/^-[a-zA-Z]*d[a-zA-Z]*m|^-dm/)) ||
    (name === "tmux" && hasWord(/^-[a-zA-Z]*d/)) ||
    (name === "systemd-run" && !hasWord(/^(?:--wait|--scope|--pipe|--pty|-[a-zA-Z]*[Pt][a-zA-Z]*)$/)) ||
    (/^(?:docker|docker-compose|podman)$/.test(name) &&
      hasWord(/^(?:run|up)$/) &&
      hasWord(/^(?:-[a-z]*d[a-z]*|--detach)$/));
  return isDaemon ? { what: `what ${name} starts`, inheritsFiles: false } : undefined;
}
