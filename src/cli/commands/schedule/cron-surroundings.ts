import { collectTexts, quoteText } from "../../../core/base/text.ts";
import type { CronJob } from "../../syntax/crontab.ts";
import { parseShellCommands, type ShellCommand, UNKNOWN_VALUE } from "../../syntax/shell-parser.ts";

// What a line of a crontab finds around it in cron, and not in a worker: variables, files, limits, a session of its user.

/** Where the import lets a line run. */
interface LinePlace {
  /** Its host is known: every host runs it, or those of a group. */
  isHostKnown: boolean;
  isOfSupercronic: boolean;
}

/** Lists what a line would find otherwise than in cron, as far as its words show it. */
export function describeSurroundings(
  { command, variables }: CronJob,
  { isHostKnown, isOfSupercronic }: LinePlace,
): string[] {
  const read = parseShellCommands(command, variables);
  const commands = "value" in read ? read.value : [];
  const files = listWrittenFiles(commands);
  const stream = files.find((file) => /^\/(?:proc\/(?:1|self)\/fd\/|dev\/(?:tty|pts\/|console))/.test(file));
  const file = files.find((one) => !one.startsWith("/dev/") && !one.startsWith("/proc/"));
  const relative = isOfSupercronic ? findRelativePath(commands) : undefined;
  return collectTexts([
    stream !== undefined &&
      `it writes to ${quoteText(stream)}, which belongs to cron's container or terminal; leave that out: signalbox logs shows what it writes`,
    file !== undefined &&
      !isHostKnown &&
      `it writes to ${quoteText(file)} on whichever host runs it: keep it on some with --host-group or --on every-host, or leave that out: signalbox logs shows what it writes`,
    relative !== undefined &&
      `${quoteText(relative)} is relative: supercronic starts it in its own working folder, and a worker in the worker's; write an absolute path`,
    commands.some(({ words }) => words[0] === "ulimit") &&
      "ulimit: the limits that it can raise are those of the worker's service, not those that PAM gives users of cron",
    usesSession(command) &&
      "it needs a session of its user, which cron opens with PAM and a worker does not: set XDG_RUNTIME_DIR, with lingering (loginctl enable-linger)",
  ]);
}

function usesSession(command: string): boolean {
  return (
    /\bsystemctl\b[^;&|]*\s--user\b|\$\{?(?:XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)\b/.test(command) &&
    !/\bXDG_RUNTIME_DIR=/.test(command)
  );
}

function listWrittenFiles(commands: readonly ShellCommand[]): string[] {
  return commands.flatMap(({ redirections }) =>
    redirections.flatMap(({ operator, target }) =>
      operator.includes(">") && operator !== "<>" && !/^(?:\d+|-|\/dev\/null)$/.test(target) ? [target] : [],
    ),
  );
}

/** Finds a path that depends on the working folder, unless the line goes to one first. */
function findRelativePath(commands: readonly ShellCommand[]): string | undefined {
  if (commands.some(({ words }) => words[0] === "cd")) return undefined;
  const programs = commands.flatMap(({ words: [first = ""] }) => (first.includes("/") ? [first] : []));
  return [...programs, ...listWrittenFiles(commands)].find(
    (path) => !/^[/~$]/.test(path) && !path.startsWith(UNKNOWN_VALUE),
  );
}

/**
 * Finds `&>`, which a POSIX shell reads as `&` and `>`: the command before it runs in the background.
 * @returns the command and the operator
 */
export function findSplitRedirection({ command, variables }: CronJob): string | undefined {
  if (!/(?:^|\/)(?:sh|dash|ash)$/.test(variables.get("SHELL") ?? "/bin/sh")) return undefined;
  const read = parseShellCommands(command, variables);
  const commands = "value" in read ? read.value : [];
  const [operator] = commands.flatMap(({ redirections }) =>
    redirections.flatMap((one) => (one.operator.startsWith("&>") ? [one.operator] : [])),
  );
  return operator;
}

/** Variables that cron gives to a command, and the import itself only if its line names them. */
const NAMED_VARIABLES = ["MAILTO", "SHELL", "LOGNAME", "USER"] as const;

/** Returns those of cron's variables that a line names. @param user  who runs it */
export function listNamedVariables({ command, variables }: CronJob, user: string): Record<string, string> {
  const values = { SHELL: "/bin/sh", ...Object.fromEntries(variables), LOGNAME: user, USER: user };
  const named = NAMED_VARIABLES.filter((name) => new RegExp(`\\$\\{?${name}\\b`).test(command));
  return Object.fromEntries(
    named.flatMap((name) => {
      const value = (values as Readonly<Record<string, string>>)[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
