import { UsageError } from "../../../base/errors.ts";
import type { Finding } from "../../../base/finding.ts";
import { thisMachine } from "../../../config/machine.ts";
import type { Settings } from "../../../config/settings.ts";
import { type CronJob, type CrontabFormat, crontabFormat, readCrontab } from "../../../fleet/crontab.ts";
import { hostFacts } from "../../../fleet/host.ts";
import { UNKNOWN } from "../../../fleet/shell-words.ts";
import { parseSwitchman } from "../../../fleet/switchman-words.ts";
import type { Job } from "../../../model/checks/job.ts";
import { type Invocation, invocations, mentions } from "./invocations.ts";
import { type Place, type Reading, readSignalbox } from "./signalbox.ts";
import { asSignalbox } from "./switchman.ts";

/** Kind of what is said of lines that are not read here. */
const UNREAD = "front-end";

/** A crontab's text, and what to call it. */
export interface CrontabText {
  path: string;
  text: string;
  /** Undefined: as its path or its lines suggest. */
  format: CrontabFormat | undefined;
}

/** What a crontab comes to. */
export interface CrontabReading {
  jobs: readonly Job[];
  findings: readonly Finding[];
}

/** What lines are held against that do not say otherwise. */
export interface Ground {
  settings: Settings;
  /** HOME of the user who checks. */
  home: string | undefined;
}

/** Every run in a crontab, and what its text alone shows to be wrong. */
export function readJobs({ path, text, format }: CrontabText, ground: Ground): CrontabReading {
  const isOurs = mentions(text);
  const crontab = readCrontab(text, format ?? crontabFormat(path, text));
  const faults = crontab.faults.map(
    ({ line, isFatal, detail }): Finding => ({
      ...{ kind: "crontab", check: `${path}:${line}`, detail },
      level: isFatal && isOurs ? "failure" : "warning",
    }),
  );
  const readings = crontab.jobs.map((job) => readLine(job, path, ground));
  return {
    jobs: readings.flatMap(({ jobs }) => jobs),
    findings: unreadTogether(path, [
      ...nameFaults(path, isOurs),
      ...faults,
      ...readings.flatMap(({ findings }) => findings),
    ]),
  };
}

/** Debian's cron passes over files of /etc/cron.d whose names hold a dot. */
function nameFaults(path: string, isOurs: boolean): Finding[] {
  const [, name] = /(?:^|\/)cron\.d\/([^/]+)$/.exec(path) ?? [];
  if (!isOurs || name === undefined || /^[\w-]+$/.test(name)) return [];
  const detail =
    "cron of Debian and Ubuntu reads no file in cron.d whose name holds anything but letters, digits, _ and -";
  return [{ kind: "crontab", check: path, level: "warning", detail, remedy: "rename it" }];
}

function readLine(job: CronJob, path: string, ground: Ground): CrontabReading {
  const where = `${path}:${job.line}`;
  const about = { kind: "crontab", check: where };
  const cut = isCutShort(job)
    ? [
        {
          ...{ ...about, level: "warning" as const, remedy: "write \\% for a percent sign" },
          detail: "cron ends the command at the first % and gives the rest to it as input",
        },
      ]
    : [];
  const found = invocations(job.command, job.variables);
  if ("fault" in found)
    return {
      jobs: [],
      findings: [
        ...cut,
        { ...about, level: "failure", detail: `the shell would not take it: ${found.fault}` },
      ],
    };
  const missing = userMissing(job, where);
  if (missing !== undefined) return { jobs: [], findings: [...cut, missing] };
  const place: Place = { where, home: homeOf(job, ground), settings: ground.settings };
  const readings = found.value.map((one) => readInvocation(one, place, ground));
  return {
    jobs: readings.flatMap(({ job: read }) => read ?? []),
    findings: [...cut, ...rooted(job, where), ...readings.flatMap(({ findings }) => findings)],
  };
}

function readInvocation(one: Invocation, place: Place, ground: Ground): Reading {
  if (one.tool === "signalbox") return readSignalbox(one, place);
  if (one.tool === "switchman") return readSwitchman(one, place, ground);
  return {
    job: undefined,
    findings: [{ kind: UNREAD, check: place.where, level: "hint", detail: one.tool }],
  };
}

/** One finding for all lines of front ends: they are seen here, and understood by migrate crontab. */
function unreadTogether(path: string, findings: readonly Finding[]): Finding[] {
  const unread = findings.filter(({ kind }) => kind === UNREAD);
  if (unread.length === 0) return [...findings];
  const tools = [...new Set(unread.map(({ detail }) => detail))].join(", ");
  const detail = `${unread.length} ${unread.length === 1 ? "line" : "lines"} of ${tools} ${unread.length === 1 ? "was" : "were"} not checked`;
  const remedy = "signalbox migrate crontab --check FILE tells what they mean, and what is wrong with them";
  const told: Finding = { kind: UNREAD, check: path, level: "hint", detail, remedy };
  return [told, ...findings.filter(({ kind }) => kind !== UNREAD)];
}

function isCutShort({ isCut, command }: CronJob): boolean {
  return isCut && mentions(command);
}

/** In a system's crontab, a tool where the user should stand. */
function userMissing({ user = "" }: CronJob, check: string): Finding | undefined {
  if (!/(^|\/)(signalbox|switchman)$/.test(user)) return undefined;
  const detail = "the user is missing: in this file, one stands between the schedule and the command";
  return {
    kind: "crontab",
    check,
    level: "failure",
    detail,
    remedy: "for a crontab without users: --format user",
  };
}

/** In a user's crontab, a user where the command should begin. */
function rooted({ user, command }: CronJob, check: string): Finding[] {
  if (user !== undefined || !/^root\s/.test(command) || !mentions(command)) return [];
  const detail = 'the command is "root": in this crontab no user stands before the command';
  return [
    { kind: "crontab", check, level: "failure", detail, remedy: "for a crontab with users: --format system" },
  ];
}

function homeOf({ user, variables }: CronJob, { home }: Ground): string | undefined {
  const set = variables.get("HOME");
  if (set !== undefined) return set;
  if (user === undefined) return home;
  return user === "root" ? "/root" : undefined;
}

/** A line of switchman is checked as the line of ours that it would become. */
function readSwitchman({ words }: Invocation, { where }: Place, { settings }: Ground): Reading {
  const about = { kind: "switchman", check: where };
  try {
    const call = parseSwitchman(words);
    const isPlain = (text: string | undefined) => text?.includes(UNKNOWN) !== true;
    const { lock, group, leases, command } = call;
    const isNamed = lock !== undefined && lock !== command[0]?.replace(/^.*\//, "");
    const job: Job = {
      ...{ where, tool: "switchman" },
      lock: lock === undefined || !isPlain(lock) ? undefined : { name: lock, isNamed },
      group: isPlain(group) ? group : undefined,
      leases: leases.filter(isPlain),
      ...{ ttl: settings.ttl, grace: settings.grace, command, isElsewhere: false },
      here: hostFacts(thisMachine, { host: settings.host, macros: settings.macros }),
    };
    const same = asSignalbox(call);
    const detail = isPlain(same)
      ? `as signalbox: ${same}`
      : `as signalbox, but for what the shell puts into it: ${same.replaceAll(UNKNOWN, "$(...)")}`;
    return { job, findings: [{ ...about, level: "hint", detail }] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { job: undefined, findings: [{ ...about, level: "failure", detail: error.message }] };
  }
}
