import { formatDuration, parseDuration, type WallTime } from "../../../core/base/clock.ts";
import { ConfigError, SignalboxError } from "../../../core/base/errors.ts";
import { hash } from "../../../core/base/hash.ts";
import type { LineRemark } from "../../../core/base/line-remarks.ts";
import { quotePosixWord } from "../../../core/base/shell.ts";
import { clean, collectTexts, type ParseResult, quoteText } from "../../../core/base/text.ts";
import { CRON_MACROS, isCron, markSeconds } from "../../../schedule/cron/cron.ts";
import { listCronDifferences } from "../../../schedule/cron/lint.ts";
import { checkZone } from "../../../schedule/cron/offsets.ts";
import { type Definition, runsOnEveryHost } from "../../../schedule/definition.ts";
import {
  type Catchup,
  EVERY_HOST,
  type IMPORT_HOSTS,
  isUserName,
  type Overlap,
  parseHookAddress,
} from "../../../schedule/definition-values.ts";
import { BOOT_PLAN, type Plan, parsePlan } from "../../../schedule/plan.ts";
import { describeEndedProcess, findBackgroundInText } from "../../syntax/background-process.ts";
import { findCommandName, removeReleaseNames } from "../../syntax/command-name.ts";
import { type CronJob, type CrontabFormat, findScheduleFault, parseCrontab } from "../../syntax/crontab.ts";
import { findHostMaintenance } from "../../syntax/host-maintenance.ts";
import { findLockingPrograms } from "../../syntax/line-commands.ts";
import { parseShellCommands, UNKNOWN_VALUE } from "../../syntax/shell-parser.ts";
import { describeSurroundings, findSplitRedirection, listNamedVariables } from "./cron-surroundings.ts";

export interface CrontabImportOptions {
  format: CrontabFormat;
  /** The time zone of lines without CRON_TZ. */
  timezone: string;
  /** The value of `Definition.source` for its schedules. */
  source: string;
  prefix: string;
  group?: string | undefined;
  /** Where lines run. Default: those that maintain their host on every host. Lines of `@reboot` always do. */
  on?: (typeof IMPORT_HOSTS)[number] | undefined;
  catchup: Catchup;
  overlap: Overlap;
  /** Lines that would not mean what they mean in cron are refused. */
  isStrict: boolean;
  now: WallTime;
}

/** A remark about a line that is imported, or left to cron. */
interface CrontabNote extends LineRemark {
  /** The line means the same in cron. */
  isAsInCron?: true;
}

interface ConvertedCrontab {
  definitions: ReadonlyMap<string, Definition>;
  /** Lines that cannot be converted to a schedule. */
  faults: readonly LineRemark[];
  /** Differences to cron. */
  notes: readonly CrontabNote[];
}

/** Variables for cron itself, or set by cron. */
const CRON_VARIABLES = new Set(
  "SHELL MAILTO MAILFROM CRON_TZ RANDOM_DELAY LOGNAME USER CONTENT_TYPE CONTENT_TRANSFER_ENCODING START_HOURS_RANGE".split(
    " ",
  ),
);

/**
 * Converts a crontab to schedules.
 * @param met  how often each id was given, if several crontabs are converted
 */
export function convertCrontab(
  text: string,
  terms: CrontabImportOptions,
  met = new Map<string, number>(),
): ConvertedCrontab {
  const { jobs, faults } = parseCrontab(text, terms.format);
  const fatal = faults.filter(({ isFatal, isOfFile }) => isFatal && !isOfFile);
  const bad = new Set(fatal.map(({ line }) => line));
  const notes: CrontabNote[] = faults
    .filter((fault) => !fatal.includes(fault))
    .map(({ line, detail, isOfFile }) =>
      isOfFile ? { line, detail: `${detail}; it is imported` } : { line, detail, isAsInCron: true },
    );
  const ids = buildScheduleIds(jobs, terms.prefix, met);
  const definitions = new Map<string, Definition>();
  const refused: LineRemark[] = fatal.map(({ line, detail }) => ({ line, detail }));
  for (const [index, job] of jobs.entries()) {
    if (bad.has(job.line)) continue;
    const reason = findSkipReason(job);
    const work = terms.on === EVERY_HOST ? undefined : findHostMaintenance(job.command, job.variables);
    const note = reason ?? (work && formatHostWorkNote(work, terms));
    if (note !== undefined) notes.push({ line: job.line, detail: note });
    if (/^@reboot$/i.test(job.schedule) && reason === undefined)
      notes.push({ line: job.line, detail: AT_BOOT });
    if (job.isCut && reason === undefined) notes.push({ line: job.line, detail: CUT, isAsInCron: true });
    if (reason !== undefined) continue;
    const place = {
      isHostKnown: terms.on === EVERY_HOST || terms.group !== undefined || work !== undefined,
      isOfSupercronic: terms.format === "supercronic",
    };
    notes.push(...describeSurroundings(job, place).map((detail) => ({ line: job.line, detail })));
    if (terms.isStrict && terms.format !== "supercronic" && isMailed(job))
      notes.push({ line: job.line, detail: MAILED });
    const converted = tryConvert(() => buildDefinition(job, terms));
    if ("fault" in converted) refused.push({ line: job.line, detail: converted.fault });
    else {
      definitions.set(ids[index] ?? "", converted.value);
      if (terms.format !== "supercronic") notes.push(...listCronNotes(job, converted.value, terms.now));
    }
  }
  const all = [...notes, ...listVariableNotes(jobs)];
  const changed = terms.isStrict ? all.filter(({ isAsInCron }) => isAsInCron !== true) : [];
  return {
    definitions,
    faults: [...refused, ...changed].sort(compareLines),
    notes: all.filter((note) => !changed.includes(note)).sort(compareLines),
  };
}

const compareLines = (a: LineRemark, b: LineRemark): number => a.line - b.line;

function buildDefinition(job: CronJob, terms: CrontabImportOptions): Definition {
  const { variables, note } = job;
  const jitter = parseRandomDelay(variables.get("RANDOM_DELAY"));
  const env = {
    ...Object.fromEntries([...variables].filter(([name]) => !CRON_VARIABLES.has(name))),
    ...(terms.format !== "supercronic" && listNamedVariables(job)),
  };
  const mail = toMailHook(variables.get("MAILTO"));
  const plan = toPlan(job.schedule);
  const isHostWork = terms.on === undefined && findHostMaintenance(job.command, variables) !== undefined;
  if (job.user !== undefined && !isUserName(job.user))
    throw new ConfigError(`${quoteText(job.user)} is not the name of a user`);
  return {
    cron: plan.text,
    timezone: checkZone(variables.get("CRON_TZ") ?? terms.timezone),
    command: [variables.get("SHELL") ?? "/bin/sh", "-c", job.command],
    ...(job.user !== undefined && { runAs: job.user }),
    ...(terms.format !== "supercronic" && { folder: "~" }),
    input: job.input === undefined ? "" : `${job.input.replace(/\n$/, "")}\n`,
    ...(Object.keys(env).length > 0 && { env }),
    catchup: terms.catchup,
    overlap: terms.overlap,
    source: terms.source,
    ...(mail !== undefined && { hooks: { failure: mail } }),
    ...(jitter !== undefined && { jitter }),
    ...((terms.on === EVERY_HOST || isHostWork || plan.kind === "boot") && { on: EVERY_HOST }),
    ...(terms.group !== undefined && { group: terms.group }),
    ...(note !== undefined && { note: note.slice(0, LONGEST_NOTE) }),
  };
}

/** Whether cron mails what a line writes, without being told to whom. */
function isMailed({ command, variables }: CronJob): boolean {
  return !variables.has("MAILTO") && !command.includes(">");
}

/** Converts MAILTO to a hook. @returns undefined if it has no address, or one that no mail may be sent to */
function toMailHook(to = ""): string | undefined {
  const hook = `mailto:${to.replaceAll(/\s*,\s*/g, ",").trim()}`;
  return parseHookAddress(hook) === undefined ? undefined : hook;
}

/** Notes where cron fires at other times than signalbox. */
function listCronNotes({ line }: CronJob, { cron, timezone }: Definition, now: WallTime): LineRemark[] {
  const plan = parsePlan(cron);
  if (plan.kind !== "cron") return [];
  return plan.crons.filter(isCron).flatMap((one) =>
    listCronDifferences(one, timezone, now).map((detail) => ({
      line,
      detail: `${quoteText(one.text)}: ${detail}`,
    })),
  );
}

const CUT =
  "the command ends at the first % without a backslash, as with cron, and the text after it is its input; write \\% for a percent sign";
const AT_BOOT =
  "@reboot: it runs on every host, from the next boot of each on; what it leaves in the background ends with it, so start a daemon with systemd";
const MAILED =
  'no MAILTO: cron mails what the line writes to its user, and a schedule mails nothing; write MAILTO="" above the line, or redirect what it writes';
const LONGEST_NOTE = 500;

/** Converts a schedule of cron or supercronic. @throws CronError, ConfigError for a year */
function toPlan(schedule: string): Plan {
  const text = schedule.replace(/^-/, "").replace(/[ \t]+/g, " ");
  const [, seconds] = /^@(\d+)$/.exec(text) ?? [];
  if (seconds !== undefined) return parsePlan(`@after-end ${formatDuration(Number(seconds) * 1_000)}`); // of FreeBSD
  if (/^@every_minute$/i.test(text)) return parsePlan("* * * * *");
  if (text.startsWith("@")) return parsePlan(text.toLowerCase());
  const fields = text.split(" ");
  const year = fields.length > 5 ? fields.pop() : "*";
  if (year !== "*" && year !== "?")
    throw new ConfigError(
      `year ${quoteText(year ?? "")}: a schedule has no years; write *, and give the schedule --start and --end`,
    );
  const hasSeconds = fields.length === 6 && !/^0+$/.test(fields[0] ?? "");
  return parsePlan(hasSeconds ? markSeconds(fields.join(" ")) : fields.slice(-5).join(" "));
}

/**
 * Parses RANDOM_DELAY of cronie, in minutes.
 * @returns ms
 */
function parseRandomDelay(text: string | undefined): number | undefined {
  if (text === undefined || /^0*$/.test(text)) return undefined;
  const span = parseDuration(`${text}m`);
  if ("fault" in span) throw new ConfigError(`RANDOM_DELAY ${quoteText(text)} is not a number of minutes`);
  return span.value;
}

/** Lists notes about variables that have no effect in a schedule, once for each. */
function listVariableNotes(jobs: readonly CronJob[]): CrontabNote[] {
  const notes = new Map<string, CrontabNote>();
  for (const { line, variables } of jobs) {
    const addNote = (about: string, detail: string, kept?: { isAsInCron: true }) =>
      notes.has(about) || notes.set(about, { line, detail, ...kept });
    const to = variables.get("MAILTO") ?? "";
    if (toMailHook(to) !== undefined)
      addNote(
        "mail",
        "MAILTO: a run that fails sends a mail with the end of its output, by sendmail of the worker's host (hook failure); cron also mails what runs that succeed write, and the history has it",
      );
    else if (to !== "")
      addNote(
        `mail ${to}`,
        `MAILTO: ${quoteText(to)} is not a list of addresses with commas, so no mail is sent; --hook-failure reports failures`,
      );
    if (variables.has("TZ") && !variables.has("CRON_TZ"))
      addNote(
        "zone",
        "TZ applies only to the command, as with cron; CRON_TZ or --timezone sets the time zone of the schedule",
        AS_IN_CRON,
      );
    const path = variables.get("PATH") ?? "";
    if (/[$~]/.test(path))
      addNote(
        `path ${path}`,
        `PATH: cron expands neither variables nor ~, so ${quoteText(path)} stays as it is; write the folders`,
        AS_IN_CRON,
      );
    if (variables.has("START_HOURS_RANGE"))
      addNote("hours", "START_HOURS_RANGE is a variable of anacron, and is ignored");
  }
  return [...notes.values()];
}

const AS_IN_CRON = { isAsInCron: true } as const;

function tryConvert<T>(make: () => T): ParseResult<T> {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof SignalboxError) return { fault: error.message };
    throw error;
  }
}

/** Returns the reason why a line is not imported and stays in the crontab; undefined if it is imported. */
function findSkipReason(job: CronJob): string | undefined {
  const { command, variables } = job;
  const tool = findLockingPrograms(command, variables)[0]?.name;
  if (tool === undefined) {
    const split = findSplitRedirection(job);
    if (split !== undefined)
      return (
        `/bin/sh reads ${split} as & and >, so the command runs in the background: write > FILE 2>&1, or SHELL=/bin/bash above the line;` +
        " until then it is not imported, and stays with cron"
      );
    const left = describeEndedProcess(findBackgroundInText(command));
    return left && `${left}; until then it is not imported, and stays with cron`;
  }
  if (tool === "signalbox run") return "the line uses signalbox run: it is not imported, and stays with cron";
  return (
    `the line takes a lock with ${tool}: it is not imported; convert it with signalbox migrate crontab, or remove` +
    ` ${tool} and import it, since runs of a schedule do not overlap`
  );
}

/** Returns a note about a line that seems to maintain its host. */
function formatHostWorkNote(work: string, { on }: CrontabImportOptions): string {
  const what = `the line seems to maintain the host itself (${work})`;
  return on === undefined
    ? `${what}: it becomes a schedule that runs on every host; if one host is enough, import it with --on one-host`
    : `${what}: as a schedule, it runs on one host each time`;
}

const MAX_NAME_LENGTH = 32;

/**
 * Builds ids for the lines of a crontab: a word for the command, and a hash of the command, its input and its user. An
 * id stays the same while the line runs the same command. The time is not part of it, so a new time changes a schedule
 * instead of creating another. Duplicate lines get a number.
 */
function buildScheduleIds(jobs: readonly CronJob[], prefix: string, met: Map<string, number>): string[] {
  return jobs.map((job) => {
    const id = `${prefix}${buildCommandSlug(job.command)}-${computeDigest(job)}`;
    const count = (met.get(id) ?? 0) + 1;
    met.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  });
}

function computeDigest({ command, input = "", user = "" }: CronJob): string {
  return hash(JSON.stringify([user, removeReleaseNames(command.replace(/[ \t]+/g, " ")), input]))
    .toString(36)
    .padStart(7, "0");
}

/** Returns the name of the program of a line, without path and extension: `db-dump`. */
export function buildCommandSlug(line: string): string {
  const read = parseShellCommands(line, new Map());
  const name = "value" in read ? findCommandName(read.value) : undefined;
  const isKnown = name !== undefined && !name.includes(UNKNOWN_VALUE);
  const plain = isKnown ? name.replace(/\.(sh|py|pl|rb|php|js|mjs|ts)$/i, "") : "job";
  const slug = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_NAME_LENGTH)
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "job" : slug;
}

/** Formats schedules as a crontab. What a crontab cannot express becomes a comment. */
export function formatScheduleCrontab(definitions: ReadonlyMap<string, Definition>): string {
  const lines: string[] = [];
  let zone: string | undefined;
  let mail = "";
  for (const [id, definition] of sortByZone(definitions)) {
    if (definition.timezone !== zone) lines.push("", `CRON_TZ=${definition.timezone}`);
    zone = definition.timezone;
    const { failure = "" } = definition.hooks ?? {};
    const to = /^mailto:(.*)/.exec(String(failure))?.[1] ?? "";
    if (to !== mail) lines.push("", `MAILTO="${to}"`);
    mail = to;
    lines.push("", ...formatScheduleLines(id, definition));
  }
  return `# written by signalbox export\n${lines.join("\n")}\n`;
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
  "secrets",
  "secretFiles",
] as const;

function formatScheduleLines(id: string, definition: Definition): string[] {
  const { command, cron, note, pause } = definition;
  const lost = UNSUPPORTED_FIELDS.filter((name) => definition[name] !== undefined);
  const head = [
    `# ${clean(id)}${note === undefined ? "" : `: ${clean(note)}`}`,
    ...(lost.length === 0 ? [] : [`# cron has no ${lost.join(", ")}`]),
    ...(runsOnEveryHost(definition) ? ["# for the crontab of every host"] : []),
    ...(definition.runAs === undefined ? [] : [`# for the crontab of ${clean(definition.runAs)}`]),
  ];
  if (command === undefined) return [...head, "# cron has no handlers: this schedule has no command"];
  const { input = "" } = definition;
  const parts = [
    formatCommandLine(definition),
    ...(input === "" ? [] : input.replace(/\n$/, "").split("\n")),
  ];
  const work = parts.map((text) => text.replaceAll("%", "\\%")).join("%");
  if (work.replaceAll("\t", " ") !== clean(work))
    return [...head, "# its command has line breaks or invisible characters, which cron does not support"];
  const lines = [cron].flat().flatMap((text) => {
    const line = `${text} ${work}`;
    if (!isKnownToCron(text)) return ["# cron does not understand this time:", `# ${line}`];
    return [pause === undefined ? line : `# paused: ${line}`];
  });
  return [...head, ...lines];
}

/** Returns whether cron reads a cron text, which may have `W`, `L`, `#`, ranges that wrap, or full names. */
function isKnownToCron(cron: string): boolean {
  return (
    cron === BOOT_PLAN ||
    CRON_MACROS[cron.toLowerCase()] !== undefined ||
    findScheduleFault(cron.split(" "))?.isFatal !== true
  );
}

/** Formats a command line. An imported shell line is restored, any other argv is quoted. */
function formatCommandLine({ command = [], folder, env = {} }: Definition): string {
  const sets = Object.entries(env).map(([name, value]) => quotePosixWord(`${name}=${value}`));
  const [shell, flag, script] = command;
  const isPlain = shell === "/bin/sh" && flag === "-c" && script !== undefined && command.length === 3;
  const text = isPlain && sets.length === 0 ? script : command.map(quotePosixWord).join(" ");
  const isAtHome = folder === undefined || folder === "~"; // where cron starts it
  return collectTexts([
    !isAtHome && `cd ${formatFolder(folder)} &&`,
    sets.length > 0 && "env",
    ...sets,
    text,
  ]).join(" ");
}

/** Quotes a folder, except a `~`, which the shell must expand. */
function formatFolder(folder: string): string {
  const [home = ""] = /^~\/?/.exec(folder) ?? [];
  return `${home}${quotePosixWord(folder.slice(home.length))}`;
}
