import { quoted } from "../base/text.ts";
import { type ScheduleFault, scheduleFault } from "./crontab-schedule.ts";

/** `user`: five fields and the command, as `crontab -l` prints. `system`: with a user before the command. */
export type CrontabFormat = "user" | "system";

/** A line of a crontab that starts something. */
export interface CronJob {
  /** From 1. */
  line: number;
  /** `*\/5 * * * *`, `@daily`. */
  schedule: string;
  user: string | undefined;
  /** What cron gives to the shell: up to the first `%` without a backslash. */
  command: string;
  /** There is such a `%`: what follows it becomes standard input. */
  isCut: boolean;
  /** What follows it, as lines. */
  input?: string;
  /** The comment right above. */
  note?: string;
  /** Variables that the lines before have set. */
  variables: ReadonlyMap<string, string>;
}

/** Something that cron itself would not take, or take otherwise than it was meant. */
export interface CrontabFault extends ScheduleFault {
  /** From 1. */
  line: number;
}

export interface Crontab {
  jobs: readonly CronJob[];
  faults: readonly CrontabFault[];
}

/** A name in quotes or without, an equals sign, and the value, which may have quotes around it. */
const VARIABLE = /^[ \t]*(?:"([^"]*)"|'([^']*)'|([^\s=]+))[ \t]*=[ \t]*(.*?)[ \t]*$/;
/** A schedule, and what follows it. */
const JOB = /^[ \t]*(@\w+|-?\S+[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+\S+)(?:[ \t]+(.*))?$/;
const NICKNAMES = ["reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];

/**
 * A crontab as cron (Vixie's, Debian's, cronie) reads it.
 * @see crontab(5)
 */
export function readCrontab(text: string, format: CrontabFormat): Crontab {
  const jobs: CronJob[] = [];
  const faults: CrontabFault[] = [];
  let variables: ReadonlyMap<string, string> = new Map();
  let comments: string[] = [];
  const lines = text.split("\n");
  const last = lines.pop();
  if (last !== undefined && last !== "") {
    lines.push(last);
    const detail = "the last line does not end in a newline: cron ignores the file for that";
    faults.push({ line: lines.length, isFatal: true, detail });
  }
  for (const [index, whole] of lines.entries()) {
    const line = index + 1;
    const content = whole.replace(/\r$/, "");
    if (content !== whole && content.trim() !== "")
      faults.push({
        line,
        isFatal: true,
        detail: "it ends in a carriage return (DOS), which becomes part of the command",
      });
    const comment = /^[ \t]*(?:#(.*)|$)/.exec(content);
    const above = comments;
    comments = comment?.[1] === undefined ? [] : [...above, comment[1].trim()];
    if (comment !== null) continue;
    const variable = VARIABLE.exec(content);
    if (variable !== null) variables = new Map([...variables, assigned(variable)]);
    else readJob({ line, content, format, variables, note: noteOf(above) }, jobs, faults);
  }
  return { jobs, faults };
}

function assigned([, double, single, bare = "", value = ""]: RegExpExecArray): [string, string] {
  const inner = /^(["'])(.*)\1$/.exec(value)?.[2];
  return [double ?? single ?? bare, inner ?? value];
}

interface Line {
  line: number;
  content: string;
  format: CrontabFormat;
  variables: ReadonlyMap<string, string>;
  note: string;
}

/**
 * What people say of a line: neither the head of a table (with what introduces it, and the drawing of the fields that
 * systems put into theirs), nor a ruler, nor a line that is switched off.
 */
function noteOf(comments: readonly string[]): string {
  const head = comments.findLastIndex((text) => /^(m\s+h\s+dom\b|\.-|[|│┌])/.test(text));
  const isWord = (text: string) =>
    /[\p{L}\p{N}]/u.test(text) && !/^(@[a-z]+|[\d*/,-]+(\s+[\w*/,-]+){4})\s/i.test(text);
  return comments
    .slice(head + 1)
    .filter(isWord)
    .join(" ");
}

function readJob(
  { line, content, format, variables, note }: Line,
  jobs: CronJob[],
  faults: CrontabFault[],
): void {
  const refuse = (detail: string) => faults.push({ line, isFatal: true, detail });
  const [, schedule, rest] = JOB.exec(content) ?? [];
  if (schedule === undefined) return void refuse("it is neither a schedule of five fields nor a variable");
  const fault = schedule.startsWith("@")
    ? nicknameFault(schedule)
    : scheduleFault(schedule.replace(/^-/, "").split(/[ \t]+/));
  if (fault !== undefined) faults.push({ line, ...fault });
  const [user, command] = format === "user" ? [undefined, rest] : userAnd(rest ?? "");
  if (command === undefined || command === "")
    return void refuse(
      rest === undefined || rest === "" || format === "user"
        ? "there is no command after the schedule"
        : `there is no command after the user ${quoted(rest)}; this is a crontab with a user before the command`,
    );
  jobs.push({ line, schedule, user, variables, ...beforePercent(command), ...(note !== "" && { note }) });
}

/** Where the command begins in a line that starts something. @returns undefined where there is none */
export function commandStart(content: string, format: CrontabFormat): number | undefined {
  const rest = JOB.exec(content)?.[2];
  const command = rest === undefined || format === "user" ? rest : userAnd(rest)[1];
  return command === undefined || command === "" ? undefined : content.length - command.length;
}

function userAnd(rest: string): [string, string | undefined] {
  const [, user = "", command] = /^(\S+)(?:[ \t]+(.*))?$/.exec(rest) ?? [];
  return [user, command];
}

function nicknameFault(schedule: string): ScheduleFault | undefined {
  const name = schedule.slice(1).toLowerCase();
  if (NICKNAMES.includes(name) || /^(every_minute|\d+)$/.test(name)) return undefined; // FreeBSD has more
  return { isFatal: true, detail: `${quoted(schedule)} is no schedule; there are @${NICKNAMES.join(", @")}` };
}

/** `\%` is a percent sign; a bare one ends the command. */
function beforePercent(command: string): Pick<CronJob, "command" | "isCut" | "input"> {
  const [kept = "", ...lines] = command.split(/(?<!\\)%/).map((part) => part.replaceAll("\\%", "%"));
  const isCut = lines.length > 0;
  return { command: kept.trimEnd(), isCut, ...(isCut && { input: lines.join("\n") }) };
}

/** Commands that often stand first, and are no users. */
const COMMANDS = new Set(
  (
    "cd test if for while nice ionice sudo su runuser flock env sh bash exec timeout signalbox switchman true echo chronic " +
    "cronlock golock zoo-locked setlock etcdctl consul cronic nohup setsid time command taskset chrt chpst setuidgid systemd-cat logger docker podman kubectl ssh python " +
    "python3 perl php ruby node make rsync find tar sleep run-parts"
  ).split(" "),
);

/**
 * The format of a crontab: by its path, where that tells, else by its lines: where every one has a word before its command
 * that can be a user, it is a system's.
 */
export function crontabFormat(path: string, text: string): CrontabFormat {
  if (/(^|\/)cron\.d\//.test(path) || /(^|\/)etc\/(ana)?crontab$/.test(path)) return "system";
  if (/\/(spool\/cron|crontabs)\//.test(path)) return "user";
  const { jobs } = readCrontab(text, "user");
  const isSystem = jobs.length > 0 && jobs.every(({ command }) => startsWithUser(command));
  return isSystem ? "system" : "user";
}

function startsWithUser(command: string): boolean {
  const [first = "", second] = command.split(/[ \t]+/, 2);
  const isName = /^[a-z_][a-z0-9_-]{0,31}$/i.test(first) && !COMMANDS.has(first);
  return isName && second !== undefined && !second.startsWith("-");
}
