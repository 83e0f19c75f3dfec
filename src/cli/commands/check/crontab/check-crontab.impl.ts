import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describeFileError, EXIT, SignalboxError } from "../../../../core/base/errors.ts";
import { createFindingBuilder, type Finding } from "../../../../core/base/finding.ts";
import { pluralize, quoteText } from "../../../../core/base/text.ts";
import { resolveConfig } from "../../../../core/config/config.ts";
import type { Settings } from "../../../../core/config/settings.ts";
import { StoreError } from "../../../../core/etcd/store.ts";
import { createRealClock } from "../../../../core/process/clock.ts";
import type { Collection, Snapshot } from "../../../../site/state/snapshot.ts";
import type { Call, CommandExecutor, CommandIo } from "../../../frame/command.ts";
import { readSnapshot } from "../../../frame/read-snapshot.ts";
import { createStoreCommand } from "../../../frame/store-command.ts";
import { guessCrontabFormat } from "../../../syntax/crontab.ts";
import { type JobConfiguration, judgeJobs } from "../../../views/checks/crontab.ts";
import { convertCrontab } from "../../schedule/crontab.ts";
import { type CheckReport, printReport, reportErrorsToNagios } from "../findings.ts";
import type { CheckCrontabFlags } from "./check-crontab.ts";
import { type CrontabReading, type CrontabText, readJobs } from "./read.ts";

/** Collections that jobs depend on. */
const COLLECTIONS: readonly Collection[] = ["groups", "resourceConfigs", "hosts"];

const checkOffline: CommandExecutor<CheckCrontabFlags> = async (call, io) => {
  const { values: settings } = resolveConfig({ flags: call.settings, env: io.env });
  const check = { ...call, io, settings };
  return reportResult(check, await readAllJobs(check), undefined);
};

const checkOnline = createStoreCommand<CheckCrontabFlags>(async (context) => {
  const reading = await readAllJobs(context);
  try {
    return reportResult(context, reading, await readSnapshot(context, COLLECTIONS));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const detail = `cannot read the configuration, so only the text was checked: ${error.message}`;
    const remedy = "see: signalbox doctor, or add --offline to check only the text";
    return reportResult(context, reading, undefined, [createFindingBuilder("etcd").unknown(detail, remedy)]);
  }
});

export const execute = reportErrorsToNagios<CheckCrontabFlags>((call, io) =>
  (call.flags.offline ? checkOffline : checkOnline)(call, io),
);

/** What a check receives, with or without etcd. */
interface CrontabCheck extends Pick<Call<CheckCrontabFlags>, "args" | "flags"> {
  io: CommandIo;
  settings: Settings;
}

/** What was read of all crontabs. */
interface AllReadings extends CrontabReading {
  files: number;
  /** Lines that start a command. */
  lines: number;
}

async function readAllJobs({ args, flags, io, settings }: CrontabCheck): Promise<AllReadings> {
  const { env } = io;
  const isTextOnly = flags.offline || flags["no-programs"];
  const environment = { settings, home: env.HOME, searchPath: isTextOnly ? undefined : (env.PATH ?? "") };
  const { format } = flags;
  const texts: CrontabText[] = [];
  for (const path of args) texts.push(...(await readTexts(path, io)).map((text) => ({ ...text, format })));
  const readings = texts.map((text) => readJobs(text, environment));
  return {
    files: texts.length,
    lines: readings.reduce((sum, { count }) => sum + count, 0),
    jobs: readings.flatMap(({ jobs }) => jobs),
    findings: [
      ...readings.flatMap(({ findings }) => findings),
      ...(flags["as-schedules"]
        ? texts.flatMap((text) => judgeAsSchedules(text, flags.strict === true))
        : []),
    ],
  };
}

/** Finds what an import would refuse or change. */
function judgeAsSchedules({ path, text, format }: CrontabText, isStrict: boolean): Finding[] {
  const { faults, notes } = convertCrontab(text, {
    format: format ?? guessCrontabFormat(path, text).format,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    source: path,
    prefix: "",
    catchup: "latest",
    overlap: "forbid",
    isStrict,
    now: createRealClock().getWallTime(),
  });
  return [
    ...faults.map(({ line, detail }) => createFindingBuilder("schedule", `${path}:${line}`).failure(detail)),
    ...notes.map(({ line, detail }) => createFindingBuilder("schedule", `${path}:${line}`).warning(detail)),
  ];
}

/**
 * Reads the crontabs of a path: a file, the files of a directory, or standard input for `-`.
 * @throws SignalboxError 74 if one cannot be read
 */
async function readTexts(path: string, io: CommandIo): Promise<{ path: string; text: string }[]> {
  if (path === "-") return [{ path: "stdin", text: await io.readInput() }];
  try {
    if (!statSync(path).isDirectory()) return [{ path, text: readFileSync(path, "utf8") }];
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => join(path, name))
      .sort()
      .map((file) => ({ path: file, text: readFileSync(file, "utf8") }));
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `cannot read ${quoteText(path)}: ${describeFileError(cause)}`, {
      cause,
    });
  }
}

function reportResult(
  check: CrontabCheck,
  { jobs, files, lines, findings: textual }: AllReadings,
  configured: (JobConfiguration & Pick<Snapshot, "revision">) | undefined,
  more: readonly Finding[] = [],
): number {
  const shared = new Set(check.flags.shared ?? []);
  const findings = [...textual, ...judgeJobs(jobs, configured, shared)].sort(compareByLine);
  const report: CheckReport = {
    findings: [...findings, ...more],
    figures: [
      { name: "files", value: files },
      { name: "jobs", value: lines },
    ],
    summary: `${pluralize(lines, "job")} in ${pluralize(files, "crontab")}${jobs.length === lines ? "" : `, ${pluralize(jobs.length, "run")} of signalbox`}`,
    revision: configured?.revision,
  };
  return printReport(report, check);
}

/** Orders findings by file and line, and keeps the order within a line. */
function compareByLine(a: Finding, b: Finding): number {
  const [, fileA = a.check, lineA = 0] = /^(.*):(\d+)$/.exec(a.check) ?? [];
  const [, fileB = b.check, lineB = 0] = /^(.*):(\d+)$/.exec(b.check) ?? [];
  return fileA === fileB ? Number(lineA) - Number(lineB) : fileA < fileB ? -1 : 1;
}
