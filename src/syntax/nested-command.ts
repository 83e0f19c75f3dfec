import type { ShellCommand } from "./shell-parser.ts";
import { getBaseName } from "./shell-wrappers.ts";

const SHELLS = /^(?:(?:ba|da|k|z)?sh|su|runuser|flock)$/;
/** Programs that start a command in another place: in a container, or on another host. */
const ELSEWHERE =
  /^(?:docker|docker-compose|podman|podman-compose|nerdctl|kubectl|oc|ssh|lxc|incus|nsenter|pct)$/;

/**
 * Returns the text that `sh -c TEXT` and similar commands run. Returns undefined for a shell that runs a file, because
 * the content of the file is unknown.
 */
export function findShellText({ words }: Pick<ShellCommand, "words">): string | undefined {
  const shell = words.findIndex((word) => SHELLS.test(getBaseName(word)));
  const flag = words.findIndex((word, index) => index > shell && /^(?:-[a-z]*c|--command)$/.test(word));
  if (shell < 0 || flag < 0) return findMonitoredText(words);
  const isPlain = /sh$/.test(words[shell] ?? "");
  const hasFile = words.slice(shell + 1, flag).some((word) => !/^[-+]/.test(word));
  return isPlain && hasFile ? undefined : words[flag + 1];
}

/** Returns the text of `cronitor exec KEY 'a | b'`: a single word that a shell runs. */
function findMonitoredText(words: readonly string[]): string | undefined {
  const [text = "", ...others] = words.slice(words.indexOf("exec") + 2);
  const isText = getBaseName(words[0] ?? "") === "cronitor" && words[1] === "exec" && others.length === 0;
  return isText && /\s/.test(text) ? text : undefined;
}

/** Returns the program that starts the other words in another place, if any. */
export function findRemoteStarter(words: readonly string[]): string | undefined {
  const [first = "", ...rest] = words;
  const name = getBaseName(first);
  const starts = name === "ssh" || name === "nsenter" || rest.some((word) => /^(?:exec|run)$/.test(word));
  return ELSEWHERE.test(name) && starts ? name : undefined;
}

/** Options of `exec` and `run` of docker and kubectl that take a value. */
const VALUED =
  /^(?:-[euwnvpcf]|--(?:env|user|workdir|index|env-file|name|namespace|container|volume|network|file|project-name|entrypoint))$/;

/** Returns the command that `docker compose exec SERVICE …` and similar commands start inside. */
export function findRemoteCommand(words: readonly string[]): readonly string[] | undefined {
  if (findRemoteStarter(words) === undefined) return undefined;
  const verb = words.findIndex((word) => /^(?:exec|run)$/.test(word));
  if (verb < 0) return undefined;
  let at = verb + 1;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) at += VALUED.test(word) ? 2 : 1;
  const inside = words.slice(at + 1);
  return inside[0] === "--" ? inside.slice(1) : inside;
}
