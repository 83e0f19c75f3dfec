/** The manual page, made from the same declarations as docs/commands.md. */
import { EXIT_CODES } from "../../src/commands/exit-codes.ts";
import { flagRows, settingRows, usage } from "../../src/commands/help.ts";
import { COMMON, CONNECTION, type Command, TOPICS } from "../../src/commands/spec.ts";
import { describeSettings } from "../../src/config/config.ts";

/** How etcd is reached: said once, not with each command. */
const CONNECTION_ROWS = settingRows({
  id: "",
  topic: "Run",
  brief: "",
  examples: [],
  settings: CONNECTION,
  load: never,
});

function never(): Promise<never> {
  return Promise.reject(new Error("no command"));
}

/** @param commands  in the order of help */
export function manualPage(commands: readonly Command[], version: string): string {
  return `${[
    `.TH SIGNALBOX 1 "" "signalbox ${version}" "User Commands"`,
    ".SH NAME",
    "signalbox \\- distributed locks and fair resource leases over etcd",
    ".SH SYNOPSIS",
    ...commands.flatMap((command) => [`.B ${roff(usage(command))}`, ".br"]),
    ".SH DESCRIPTION",
    roff(
      "Put the same line into the crontab of many hosts: one of them runs the job. signalbox takes a lock, and units of shared resources if asked to, in etcd; runs a command while it holds them; and ends the command before anyone else can get them.",
    ),
    ...TOPICS.flatMap((topic) => [
      `.SH ${topic.toUpperCase()}`,
      ...commands.filter((command) => command.topic === topic).flatMap(commandPart),
    ]),
    ".SH OPTIONS OF EVERY COMMAND",
    ...flagRows(COMMON).flatMap(item),
    ".SH OPTIONS OF EVERY COMMAND THAT NEEDS ETCD",
    ...CONNECTION_ROWS.flatMap(item),
    ".SH ENVIRONMENT",
    roff("Each setting has a variable; those of etcdctl are understood too."),
    ...describeSettings().flatMap(({ variables, help }) => item([variables.join(", "), help])),
    ".SH FILES",
    ...item(["/etc/signalbox/config.json", "settings of this host"]),
    ...item(["~/.config/signalbox/config.json", "settings of the user, stronger than those of the host"]),
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(item),
    ".SH SEE ALSO",
    ".BR etcdctl (1),",
    ".BR crontab (5),",
    ".BR flock (1)",
  ].join("\n")}\n`;
}

function commandPart(command: Command): string[] {
  const { id, brief, about = [], args = [], flags = [], settings = [], examples } = command;
  const own = settings.filter((key) => !CONNECTION.includes(key));
  return [
    `.SS ${roff(`signalbox ${id}`)}`,
    roff(`${brief}.`),
    ...about.flatMap((paragraph) => [".PP", roff(paragraph)]),
    ...args.flatMap(({ name, help }) => item([name, help])),
    ...flagRows(flags).flatMap(item),
    ...settingRows({ ...command, settings: own }).flatMap(item),
    ...examples.flatMap(([line, what]) => item([line, what])),
  ];
}

function item([term, text]: readonly [string, string]): string[] {
  return [".TP", `.B ${roff(term)}`, roff(text)];
}

/** A text as one line of roff: nothing in it is a request or an escape. */
function roff(text: string): string {
  const plain = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("–", "\\(en")
    .replaceAll("…", "...");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
