import { type CronJob, type Crontab, findCommandStart, parseCrontab } from "../../syntax/crontab.ts";
import { findHostMaintenance } from "../../syntax/host-maintenance.ts";
import { findLockTools } from "../../syntax/lock-tools.ts";
import { applyEdits, decodeCommand } from "./lines/edits.ts";
import type { LineReport, Migration, MigrationOptions } from "./lines/migration.ts";
import { assignLockNames, type PlainLine, parsePlainLine } from "./lines/plain-line.ts";
import { buildPlainReport } from "./lines/plain-report.ts";
import { rewriteShell } from "./lines/shell-line.ts";
import { hasToolName } from "./lines/tools.ts";
import { UntranslatableError } from "./lines/untranslatable-error.ts";

export type { Migration, MigrationOptions } from "./lines/migration.ts";

/** Rewrites a crontab for `signalbox run`. The result does not change when it is rewritten again. */
export function migrateCrontab(text: string, options: MigrationOptions): Migration {
  const lines = text.split("\n");
  const crontab = parseCrontab(text, options.format);
  const jobs = new Map(crontab.jobs.map((job) => [job.line, job]));
  const names = options.plain ? assignLockNames(findPlainLines(crontab, options)) : new Map<string, string>();
  const reports = lines.flatMap((before, index) => {
    const line = index + 1;
    const job = jobs.get(line);
    const found = crontab.faults.filter((fault) => fault.line === line);
    const faults = found.map(({ detail }) => detail);
    const wrong = found.find(({ isFatal, isUnfinished }) => isFatal && !isUnfinished);
    if (options.plain && wrong !== undefined)
      return [{ line, before, after: before, tools: [], notes: [], reason: wrong.detail }];
    return job === undefined
      ? reportUnreadLine(line, before, faults)
      : (reportJobLine(line, before, job, faults, options, names) ?? []);
  });
  const after = new Map(reports.map((report) => [report.line, report.after]));
  return { text: lines.map((before, index) => after.get(index + 1) ?? before).join("\n"), lines: reports };
}

/** Reports lines that cron itself would not accept. */
function reportUnreadLine(line: number, before: string, faults: readonly string[]): LineReport[] {
  const [reason] = faults;
  if (reason === undefined || !hasToolName(before)) return [];
  return [{ line, before, after: before, tools: [], notes: [], reason }];
}

function reportJobLine(
  line: number,
  before: string,
  job: CronJob,
  faults: readonly string[],
  options: MigrationOptions,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  const kept = { line, before, after: before, tools: [], notes: [] };
  const from = findCommandStart(before, options.format);
  try {
    if (before.endsWith("\r") && hasToolName(before))
      throw new UntranslatableError(faults[0] ?? "it ends in a carriage return");
    if (from === undefined) return undefined;
    const command = decodeCommand(before, from);
    const { edits, tools, notes } = rewriteShell(command.text, { ...options, variables: job.variables });
    if (tools.length === 0) checkKnown(command.text, job);
    if (tools.length === 0 && options.plain) return buildPlainReport(kept, job, command, options, names);
    // A field is missing: the tool's name was taken for part of the schedule.
    if (faults[0] !== undefined && hasToolName(before) && !hasToolName(command.text))
      return { ...kept, reason: faults[0] };
    const after = applyEdits(before, command, edits);
    const said = after === before ? notes : [...notes, ...faults];
    return after === before && said.length === 0 ? undefined : { ...kept, after, tools, notes: said };
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error;
    return { ...kept, reason: error.message };
  }
}

/** Checks a line for unknown tools that may hold a lock. @throws UntranslatableError */
function checkKnown(text: string, { variables }: CronJob): void {
  const unknown = findLockTools(text, variables).find(({ isKnown }) => !isKnown);
  if (unknown === undefined) return;
  throw new UntranslatableError(
    `${unknown.name} looks like an unknown tool that takes a lock; if it does, write the line by hand:` +
      " signalbox run --lock NAME -- COMMAND",
  );
}

/** Lists the lines that would get a lock, so that lock names are unique. */
function findPlainLines({ jobs }: Crontab, options: MigrationOptions): PlainLine[] {
  return jobs.flatMap(({ command, variables, schedule }) => {
    try {
      const { tools } = rewriteShell(command, { ...options, variables });
      const isKept =
        schedule.toLowerCase() === "@reboot" || findHostMaintenance(command, variables) !== undefined;
      if (tools.length > 0 || isKept) return [];
      return parsePlainLine(command, variables) ?? [];
    } catch (error) {
      if (error instanceof UntranslatableError) return [];
      throw error;
    }
  });
}
