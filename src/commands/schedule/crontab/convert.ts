import { parseDuration } from "../../../base/duration.ts";
import { ConfigError, SignalboxError } from "../../../base/errors.ts";
import { type Parsed, quoted } from "../../../base/text.ts";
import { type CronJob, type CrontabFormat, readCrontab } from "../../../fleet/crontab.ts";
import { parseCron } from "../../../schedule/cron.ts";
import type { Catchup, Definition, Overlap } from "../../../schedule/definition.ts";
import { checkZone } from "../../../schedule/zone.ts";
import { idsOf } from "./ids.ts";

/** How a crontab is to be taken. */
export interface Terms {
  format: CrontabFormat;
  /** Whose clock lines mean that CRON_TZ does not speak for. */
  timezone: string;
  /** What its schedules are known by, in `Definition.source`. */
  source: string;
  prefix: string;
  group?: string | undefined;
  /** Who workers run as. */
  workerUser: string;
  /** Lines of other users go through sudo. */
  sudo: boolean;
  catchup: Catchup;
  overlap: Overlap;
}

/** Something to say about a line, from 1. */
export interface Remark {
  line: number;
  detail: string;
}

export interface Converted {
  definitions: ReadonlyMap<string, Definition>;
  /** Lines that no schedule can be made of. */
  faults: readonly Remark[];
  /** What is not quite as cron has it. */
  notes: readonly Remark[];
}

/** Variables that speak to cron, or that cron sets itself. */
const CRONS = new Set(
  "SHELL MAILTO MAILFROM CRON_TZ RANDOM_DELAY LOGNAME USER CONTENT_TYPE CONTENT_TRANSFER_ENCODING START_HOURS_RANGE".split(
    " ",
  ),
);

/** A crontab as schedules. */
export function convertCrontab(text: string, terms: Terms): Converted {
  const { jobs, faults } = readCrontab(text, terms.format);
  const fatal = faults.filter(({ isFatal }) => isFatal);
  const bad = new Set(fatal.map(({ line }) => line));
  const ids = idsOf(jobs, terms.prefix);
  const definitions = new Map<string, Definition>();
  const refused: Remark[] = fatal.map(({ line, detail }) => ({ line, detail }));
  for (const [index, job] of jobs.entries()) {
    if (bad.has(job.line)) continue;
    const converted = attempt(() => definitionOf(job, terms));
    if ("fault" in converted) refused.push({ line: job.line, detail: converted.fault });
    else definitions.set(ids[index] ?? "", converted.value);
  }
  const mild = faults.filter(({ isFatal }) => !isFatal).map(({ line, detail }) => ({ line, detail }));
  const notes = [...mild, ...notesOn(jobs)].sort(byLine);
  return { definitions, faults: refused.sort(byLine), notes };
}

const byLine = (a: Remark, b: Remark): number => a.line - b.line;

function definitionOf(job: CronJob, terms: Terms): Definition {
  const { variables, note } = job;
  const jitter = randomDelay(variables.get("RANDOM_DELAY"));
  const env = Object.fromEntries([...variables].filter(([name]) => !CRONS.has(name)));
  const isOther = terms.format === "system" && job.user !== terms.workerUser;
  if (isOther && !terms.sudo)
    throw new ConfigError(
      `it runs as user ${quoted(job.user ?? "")}, but workers run as ${quoted(terms.workerUser)}: say --worker-user, or --sudo to go through sudo`,
    );
  return {
    cron: cronOf(job.schedule),
    timezone: checkZone(variables.get("CRON_TZ") ?? terms.timezone),
    command: isOther ? asUser(job, env) : argvOf(job),
    ...(!isOther && Object.keys(env).length > 0 && { env }),
    ...{ catchup: terms.catchup, overlap: terms.overlap, source: terms.source },
    ...(jitter !== undefined && { jitter }),
    ...(terms.group !== undefined && { group: terms.group }),
    ...(note !== undefined && { note: note.slice(0, LONGEST_NOTE) }),
  };
}

const LONGEST_NOTE = 500;

/** A schedule of cron's as five fields or a macro. @throws CronError */
function cronOf(schedule: string): string {
  const text = schedule.replace(/^-/, "").replace(/[ \t]+/g, " ");
  const known = /^@every_minute$/i.test(text)
    ? "* * * * *"
    : text.startsWith("@")
      ? text.toLowerCase()
      : text;
  return parseCron(known).text;
}

/** Gives a shell's line the text behind `%` as its input; the exit code is the line's. */
export const WITH_INPUT = `printf '%s\\n' "$1" | "$2" -c "$3"`;

function argvOf({ variables, command, input }: CronJob): string[] {
  const shell = variables.get("SHELL") ?? "/bin/sh";
  if (input === undefined) return [shell, "-c", command];
  return ["/bin/sh", "-c", WITH_INPUT, "cron", input.replace(/\n$/, ""), shell, command];
}

/** sudo keeps no variables, so they are given to what it starts. */
function asUser(job: CronJob, env: Readonly<Record<string, string>>): string[] {
  const sets = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const given = sets.length === 0 ? [] : ["env", ...sets];
  return ["sudo", "-n", "-H", "-u", job.user ?? "", "--", ...given, ...argvOf(job)];
}

/** cronie's, in minutes. */
function randomDelay(text: string | undefined): number | undefined {
  if (text === undefined || /^0*$/.test(text)) return undefined;
  const span = parseDuration(`${text}m`);
  if ("fault" in span) throw new ConfigError(`RANDOM_DELAY ${quoted(text)} is not a number of minutes`);
  return span.value;
}

/** Variables whose meaning is lost, once each. */
function notesOn(jobs: readonly CronJob[]): Remark[] {
  const notes = new Map<string, Remark>();
  for (const { line, variables } of jobs) {
    const say = (about: string, detail: string) => notes.has(about) || notes.set(about, { line, detail });
    if ((variables.get("MAILTO") ?? "") !== "")
      say(
        "mail",
        "MAILTO: no mail is sent; what a run said is in its history, and --hook-failure tells somebody",
      );
    if (variables.has("TZ") && !variables.has("CRON_TZ"))
      say("zone", "TZ is for the command alone, as with cron; CRON_TZ or --timezone says when it runs");
    if (variables.has("START_HOURS_RANGE")) say("hours", "START_HOURS_RANGE is anacron's, and was left out");
  }
  return [...notes.values()];
}

function attempt<T>(make: () => T): Parsed<T> {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof SignalboxError) return { fault: error.message };
    throw error;
  }
}
