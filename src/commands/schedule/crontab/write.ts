import { shellWord } from "../../../base/shell.ts";
import { clean } from "../../../base/text.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { WITH_INPUT } from "./convert.ts";

/** What a crontab can say of schedules; what it cannot becomes a comment. */
export function crontabText(definitions: ReadonlyMap<string, Definition>): string {
  const lines: string[] = [];
  let zone: string | undefined;
  for (const [id, definition] of byZone(definitions)) {
    if (definition.timezone !== zone) lines.push("", `CRON_TZ=${definition.timezone}`);
    zone = definition.timezone;
    lines.push("", ...linesOf(id, definition));
  }
  return `# written by signalbox schedule export\n${lines.join("\n")}\n`;
}

function byZone(definitions: ReadonlyMap<string, Definition>): [string, Definition][] {
  return [...definitions].sort(([a, { timezone: one }], [b, { timezone: other }]) =>
    one === other ? (a < b ? -1 : 1) : one < other ? -1 : 1,
  );
}

const LOST = [
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

function linesOf(id: string, definition: Definition): string[] {
  const { command, cron, note, pause } = definition;
  const lost = LOST.filter((name) => definition[name] !== undefined);
  const head = [
    `# ${clean(id)}${note === undefined ? "" : `: ${clean(note)}`}`,
    ...(lost.length === 0 ? [] : [`# cron has no ${lost.join(", ")}`]),
  ];
  if (command === undefined) return [...head, "# cron has no handlers: this one has no command"];
  const { argv, input } = withoutInput(command);
  const line = `${cron} ${[lineOf(argv, definition.env ?? {}), ...input].map(escaped).join("%")}`;
  if (line.replaceAll("\t", " ") !== clean(line))
    return [...head, "# its command has line breaks, or characters that nobody sees: cron cannot have them"];
  return [...head, pause === undefined ? line : `# paused: ${line}`];
}

/** A shell's line as it was imported, any other argv quoted for one. */
function lineOf(command: readonly string[], env: Readonly<Record<string, string>>): string {
  const sets = Object.entries(env).map(([name, value]) => shellWord(`${name}=${value}`));
  const [shell, flag, script] = command;
  const isPlain = shell === "/bin/sh" && flag === "-c" && script !== undefined && command.length === 3;
  const text = isPlain && sets.length === 0 ? script : command.map(shellWord).join(" ");
  return [...(sets.length === 0 ? [] : ["env", ...sets]), text].join(" ");
}

/** What was imported with a `%` has it again. */
function withoutInput(command: readonly string[]): { argv: readonly string[]; input: readonly string[] } {
  const [, , script, , input = "", shell = "", line = ""] = command;
  if (script !== WITH_INPUT) return { argv: command, input: [] };
  return { argv: [shell, "-c", line], input: input.split("\n") };
}

const escaped = (text: string): string => text.replaceAll("%", "\\%");
