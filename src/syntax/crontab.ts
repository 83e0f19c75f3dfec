import { quoteText } from "../base/text.ts";
import { findScheduleFault, type ScheduleFault } from "./crontab-schedule.ts";

/** `user`: five fields and the command, as `crontab -l` prints. `system`: with a user before the command. */
export type CrontabFormat = "user" | "system";

/** A line of a crontab that starts a command. */
export interface CronJob {
  /** From 1. */
  line: number;
  /** `*\/5 * * * *`, `@daily`. */
  schedule: string;
  user: string | undefined;
  /** The text that cron passes to the shell: up to the first `%` without a backslash. */
  command: string;
  /** The line has such a `%`. The text after it becomes standard input. */
  isCut: boolean;
  /** The text after the `%`, as lines. */
  input?: string;
  /** The comment directly above the line. */
  note?: string;
  /** Variables set by the preceding lines. */
  variables: ReadonlyMap<string, string>;
}

/** A line that cron refuses, or reads differently than intended. */
export interface CrontabFault extends ScheduleFault {
  /** From 1. */
  line: number;
  /** The last line has no line break. Cron ignores the file, although every line can be parsed. */
  isUnfinished?: true;
}

export interface Crontab {
  jobs: readonly CronJob[];
  faults: readonly CrontabFault[];
}

/** A name (quotes optional), an equals sign, and the value (quotes optional). */
const VARIABLE = /^[ \t]*(?:"([^"]*)"|'([^']*)'|([^\s=]+))[ \t]*=[ \t]*(.*?)[ \t]*$/;
/** A word that is a field of a schedule rather than a program: `*`, `2026`, `1-5`, `mon-fri`. */
const FIELD =
  /^(?:[*?\d][*?\d/,~#LW-]*|(?:sun|mon|tue|wed|thu|fri|sat)(?:[-,](?:sun|mon|tue|wed|thu|fri|sat))*)$/i;
/** A schedule and the text after it. */
const JOB = /^[ \t]*(@\w+|-?\S+[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+\S+)(?:[ \t]+(.*))?$/;
const NICKNAMES = ["reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];

/** Parses a crontab as cron does (Vixie's, Debian's, cronie). @see crontab(5) */
export function parseCrontab(text: string, format: CrontabFormat): Crontab {
  const jobs: CronJob[] = [];
  const faults: CrontabFault[] = [];
  let variables: ReadonlyMap<string, string> = new Map();
  let comments: string[] = [];
  const lines = text.split("\n");
  const last = lines.pop();
  if (last !== undefined && last !== "") {
    lines.push(last);
    const detail = "the last line does not end in a newline, so cron ignores the file";
    faults.push({ line: lines.length, isFatal: true, isUnfinished: true, detail });
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
    if (variable !== null) variables = new Map([...variables, parseVariable(variable)]);
    else parseJob({ line, content, format, variables, note: extractNote(above) }, jobs, faults);
  }
  return { jobs, faults };
}

function parseVariable([, double, single, bare = "", value = ""]: RegExpExecArray): [string, string] {
  const inner = /^(["'])(.*)\1$/.exec(value)?.[2];
  return [double ?? single ?? bare, inner ?? value];
}

interface CrontabLine {
  line: number;
  content: string;
  format: CrontabFormat;
  variables: ReadonlyMap<string, string>;
  note: string;
}

/**
 * Extracts the part of the comments that describes a line. Skips table headers (with their introduction and the field
 * drawing that systems add), rulers, and disabled lines.
 */
function extractNote(comments: readonly string[]): string {
  const head = comments.findLastIndex((text) => /^(m\s+h\s+dom\b|\.-|[|│┌])/.test(text));
  const isWord = (text: string) =>
    /[\p{L}\p{N}]/u.test(text) && !/^(@[a-z]+|[\d*/,-]+(\s+[\w*/,-]+){4})\s/i.test(text);
  return comments
    .slice(head + 1)
    .filter(isWord)
    .join(" ");
}

function parseJob(
  { line, content, format, variables, note }: CrontabLine,
  jobs: CronJob[],
  faults: CrontabFault[],
): void {
  const addFault = (detail: string) => faults.push({ line, isFatal: true, detail });
  const [, schedule, rest] = JOB.exec(content) ?? [];
  if (schedule === undefined) return void addFault("it is neither a schedule of five fields nor a variable");
  const fault = schedule.startsWith("@")
    ? findNicknameFault(schedule)
    : findScheduleFault(schedule.replace(/^-/, "").split(/[ \t]+/));
  if (fault !== undefined) faults.push({ line, ...fault });
  const extra = schedule.startsWith("@") ? 0 : countFields(rest ?? "", format);
  if (extra > 0)
    return void addFault(
      `the schedule has ${5 + extra} fields, but cron reads five, from the minute to the day of the week, and takes` +
        ` ${quoteText((rest ?? "").split(/[ \t]/, 1)[0] ?? "")} for ${format === "user" ? "the command" : "the user"}: ` +
        "remove seconds and year; write a program of that name with its path",
    );
  const [user, command] = format === "user" ? [undefined, rest] : splitUser(rest ?? "");
  if (user !== undefined && user !== "" && !canBeUser(user))
    return void addFault(
      `the user is missing: this file has a user between the schedule and the command, and ${quoteText(user)} is not a user`,
    );
  if (command === undefined || command === "")
    return void addFault(
      rest === undefined || rest === "" || format === "user"
        ? "there is no command after the schedule"
        : `there is no command after the user ${quoteText(rest)}; this is a crontab with a user before the command`,
    );
  if (format === "user" && /^root[ \t]+[^-]/.test(command))
    addFault(
      'the command is "root": this was read as a crontab without a user before the command; if it has one: --format system',
    );
  jobs.push({ line, schedule, user, variables, ...splitAtPercent(command), ...(note !== "" && { note }) });
}

/** Counts the fields after the fifth: a second and a year. A user can be called `mon`. */
function countFields(rest: string, format: CrontabFormat): number {
  const words = rest.split(/[ \t]+/, 2);
  const isField = (word = "") => FIELD.test(word) && (format === "user" || !canBeUser(word));
  return isField(words[0]) ? 1 + Number(FIELD.test(words[1] ?? "")) : 0;
}

/** Finds the offset of the command in a line. @returns undefined if the line has no command */
export function findCommandStart(content: string, format: CrontabFormat): number | undefined {
  const rest = JOB.exec(content)?.[2];
  const command = rest === undefined || format === "user" ? rest : splitUser(rest)[1];
  return command === undefined || command === "" ? undefined : content.length - command.length;
}

const SCRIPT = /\.(?:sh|bash|py|pl|rb|php|js|ts|jar|exe)$/i;

/** Returns whether a word can be the name of a user: not a path, variable or script. */
export function canBeUser(word: string): boolean {
  return /^[a-z_][a-z0-9._-]{0,31}\$?$/i.test(word) && !isScript(word);
}

export function isScript(word: string): boolean {
  return SCRIPT.test(word);
}

function splitUser(rest: string): [string, string | undefined] {
  const [, user = "", command] = /^(\S+)(?:[ \t]+(.*))?$/.exec(rest) ?? [];
  return [user, command];
}

function findNicknameFault(schedule: string): ScheduleFault | undefined {
  const name = schedule.slice(1).toLowerCase();
  if (NICKNAMES.includes(name) || /^(every_minute|\d+)$/.test(name)) return undefined; // FreeBSD has more nicknames
  return {
    isFatal: true,
    detail: `unknown schedule ${quoteText(schedule)}; use one of @${NICKNAMES.join(", @")}`,
  };
}

/** Splits a command at `%`. `\%` is a literal percent sign; a bare one ends the command. */
function splitAtPercent(command: string): Pick<CronJob, "command" | "isCut" | "input"> {
  const [kept = "", ...lines] = command.split(/(?<!\\)%/).map((part) => part.replaceAll("\\%", "%"));
  const isCut = lines.length > 0;
  return { command: kept.trimEnd(), isCut, ...(isCut && { input: lines.join("\n") }) };
}
