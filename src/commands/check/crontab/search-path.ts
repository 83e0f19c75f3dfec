import { type ShellCommand, UNKNOWN } from "../../../syntax/shell-parser.ts";

/** The PATH that Debian's cron sets if the crontab has none. */
export const CRON_PATH = "/usr/bin:/bin";
/** The PATH that cron gets from systemd. Cron passes it on if it was started with -P, as on Ubuntu. */
export const SERVICE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Programs that start another one with a PATH that the line does not show, or on another system. */
const PATH_CHANGERS =
  /^(?:sudo|doas|su|runuser|ssh|docker|podman|kubectl|lxc|lxc-attach|chroot|nsenter|unshare|systemd-run|machinectl|setpriv|nix|nix-shell|direnv|asdf|mise|conda|bundle|npx)$/;
/** Shell builtins that read a file, which may set any variable. */
const READERS = /^(?:\.|source|eval)$/;
const LOGIN_SHELL = /^(?:-[a-z]*l[a-z]*|--login|-)$/;

/** Returns the variables after a command. A command that reads a file makes PATH unknown. */
export function applyReadFiles(
  { words: [first = ""] }: ShellCommand,
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return READERS.test(first) ? setUnknownPath(variables) : variables;
}

/**
 * Returns the variables that the wrapper words of a program leave to it. `sudo` and a login shell set their own PATH.
 */
export function applyWrapperPath(
  wrapper: readonly string[],
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const names = wrapper.map((word) => word.slice(word.lastIndexOf("/") + 1));
  const shell = names.findIndex((name) => /^(?:ba|da|k|z)?sh$/.test(name));
  const isLogin = shell >= 0 && wrapper.slice(shell + 1).some((word) => LOGIN_SHELL.test(word));
  const isCleared =
    names.includes("env") && wrapper.some((word) => /^(?:-i?|--ignore-environment)$/.test(word));
  const isChanged = isLogin || isCleared || names.some((name) => PATH_CHANGERS.test(name));
  return isChanged ? setUnknownPath(variables) : variables;
}

function setUnknownPath(variables: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...variables, ["PATH", UNKNOWN]]);
}
