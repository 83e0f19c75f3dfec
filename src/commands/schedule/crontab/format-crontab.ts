import { quotePosixWord } from "../../../base/shell.ts";
import { clean } from "../../../base/text.ts";
import { CRON_MACROS } from "../../../schedule/cron/cron.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { findScheduleFault } from "../../../syntax/crontab-schedule.ts";
import { WITH_INPUT } from "../crontab.ts";

/** Formats schedules as a crontab. What a crontab cannot express becomes a comment. */
export function formatScheduleCrontab(definitions: ReadonlyMap<string, Definition>): string {
  const lines: string[] = [];
  let zone: string | undefined;
  for (const [id, definition] of sortByZone(definitions)) {
    if (definition.timezone !== zone) lines.push("", `CRON_TZ=${definition.timezone}`);
    zone = definition.timezone;
    lines.push("", ...formatScheduleLines(id, definition));
  }
  return `# written by signalbox schedule export\n${lines.join("\n")}\n`;
}

function sortByZone(definitions: ReadonlyMap<string, Definition>): [string, Definition][] {
  return [...definitions].sort(([a, { timezone: one }], [b, { timezone: other }]) =>
    one === other ? (a < b ? -1 : 1) : one < other ? -1 : 1,
  );
}

const UNSUPPORTED_FIELDS = [
  "after",
  "except",
  "only",
  "delay",
  "jitter",
  "end",
  "catchup",
  "deadline",
  "overlap",
  "group",
  "leases",
  "timeout",
  "retries",
] as const;

function formatScheduleLines(id: string, definition: Definition): string[] {
  const { command, cron, note, pause } = definition;
  const lost = UNSUPPORTED_FIELDS.filter((name) => definition[name] !== undefined);
  const head = [
    `# ${clean(id)}${note === undefined ? "" : `: ${clean(note)}`}`,
    ...(lost.length === 0 ? [] : [`# cron has no ${lost.join(", ")}`]),
  ];
  if (command === undefined) return [...head, "# cron has no handlers: this schedule has no command"];
  const { argv, input } = splitInput(command);
  const line = `${cron} ${[formatCommandLine(argv, definition.env ?? {}), ...input].map(escapePercent).join("%")}`;
  if (line.replaceAll("\t", " ") !== clean(line))
    return [...head, "# its command has line breaks or invisible characters, which cron does not support"];
  if (!isKnownToCron(cron)) return [...head, "# cron does not understand this time:", `# ${line}`];
  return [...head, pause === undefined ? line : `# paused: ${line}`];
}

/** Returns whether cron reads a cron text, which may have `W`, `L`, `#`, ranges that wrap, or full names. */
function isKnownToCron(cron: string): boolean {
  return (
    CRON_MACROS[cron.toLowerCase()] !== undefined || findScheduleFault(cron.split(" "))?.isFatal !== true
  );
}

/** Formats a command line. An imported shell line is restored, any other argv is quoted. */
function formatCommandLine(command: readonly string[], env: Readonly<Record<string, string>>): string {
  const sets = Object.entries(env).map(([name, value]) => quotePosixWord(`${name}=${value}`));
  const [shell, flag, script] = command;
  const isPlain = shell === "/bin/sh" && flag === "-c" && script !== undefined && command.length === 3;
  const text = isPlain && sets.length === 0 ? script : command.map(quotePosixWord).join(" ");
  return [...(sets.length === 0 ? [] : ["env", ...sets]), text].join(" ");
}

/** Splits off the input of a command that was imported with `%`. */
function splitInput(command: readonly string[]): { argv: readonly string[]; input: readonly string[] } {
  const [, , script, , input = "", shell = "", line = ""] = command;
  if (script !== WITH_INPUT) return { argv: command, input: [] };
  return { argv: [shell, "-c", line], input: input.split("\n") };
}

const escapePercent = (text: string): string => text.replaceAll("%", "\\%");
