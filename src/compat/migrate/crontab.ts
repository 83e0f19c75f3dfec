import {
  type CronJob,
  type Crontab,
  type CrontabFormat,
  commandStart,
  readCrontab,
} from "../../fleet/crontab.ts";
import { decoded, edited } from "./edits.ts";
import { distinctNames, type Plain, plainEdit, plainLine } from "./plain.ts";
import { Refusal } from "./refusal.ts";
import { rewriteShell } from "./shell-line.ts";
import { namesTool } from "./tools.ts";

/** What became of a line that has something to do with a tool. */
export interface LineReport {
  /** From 1. */
  line: number;
  before: string;
  /** The same text where nothing was changed. */
  after: string;
  /** Whose words were translated; none for a plain line. */
  tools: readonly string[];
  /** Where the meaning changes. */
  notes: readonly string[];
  /** Why it stays as it is although a tool is in it. */
  reason?: string;
}

export interface Migration {
  /** The whole crontab. */
  text: string;
  /** Lines that change, cannot, or are to be said something about. */
  lines: readonly LineReport[];
}

export interface Manner {
  format: CrontabFormat;
  /** Lines without any tool get a lock too. */
  plain: boolean;
  /** What the new lines call. */
  program: string;
  /** The tools' own configuration files, by path. */
  files: ReadonlyMap<string, string>;
  /** Put `signalbox run` around the tools, instead of in their place. */
  around?: boolean;
  /** Leave out where the tools' servers are, and how to get in. */
  noConnection?: boolean;
}

/** A crontab for `signalbox run`. What it makes comes out unchanged when it is given to it again. */
export function migrateCrontab(text: string, manner: Manner): Migration {
  const lines = text.split("\n");
  const crontab = readCrontab(text, manner.format);
  const jobs = new Map(crontab.jobs.map((job) => [job.line, job]));
  const names = manner.plain ? distinctNames(plainLines(crontab, manner)) : new Map<string, string>();
  const reports = lines.flatMap((before, index) => {
    const line = index + 1;
    const job = jobs.get(line);
    const faults = crontab.faults.filter((fault) => fault.line === line).map(({ detail }) => detail);
    return job === undefined
      ? unread(line, before, faults)
      : (reported(line, before, job, faults, manner, names) ?? []);
  });
  const after = new Map(reports.map((report) => [report.line, report.after]));
  return { text: lines.map((before, index) => after.get(index + 1) ?? before).join("\n"), lines: reports };
}

/** Lines that cron itself would not take. */
function unread(line: number, before: string, faults: readonly string[]): LineReport[] {
  const [reason] = faults;
  if (reason === undefined || !namesTool(before)) return [];
  return [{ line, before, after: before, tools: [], notes: [], reason }];
}

function reported(
  line: number,
  before: string,
  job: CronJob,
  faults: readonly string[],
  manner: Manner,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  const kept = { line, before, after: before, tools: [], notes: [] };
  const from = commandStart(before, manner.format);
  try {
    if (before.endsWith("\r") && namesTool(before))
      throw new Refusal(faults[0] ?? "it ends in a carriage return");
    if (from === undefined) return undefined;
    const command = decoded(before, from);
    const { edits, tools, notes } = rewriteShell(command.text, { ...manner, variables: job.variables });
    if (tools.length === 0 && manner.plain) return plainReport(kept, job, command, manner, names);
    // A field is missing: what names the tool was taken for the schedule.
    if (faults[0] !== undefined && namesTool(before) && !namesTool(command.text))
      return { ...kept, reason: faults[0] };
    const after = edited(before, command, edits);
    const said = after === before ? notes : [...notes, ...faults];
    return after === before && said.length === 0 ? undefined : { ...kept, after, tools, notes: said };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...kept, reason: error.message };
  }
}

function plainReport(
  kept: LineReport,
  job: CronJob,
  command: ReturnType<typeof decoded>,
  manner: Manner,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  if (/\bsignalbox\b/.test(command.text)) return undefined;
  if (job.schedule.toLowerCase() === "@reboot")
    return { ...kept, notes: ["it is for each host's own boot, and stays without a lock"] };
  if (kept.before.endsWith("\r")) throw new Refusal("it ends in a carriage return");
  const plain = plainLine(command.text, job.variables);
  if (plain === undefined) return undefined;
  const lock = names.get(plain.text) ?? plain.name;
  const after = edited(kept.before, command, [plainEdit(plain, lock, manner.program, job)]);
  const note =
    `it had no lock; now hosts that have this line run it one at a time, and those that find lock ${lock} taken do not;` +
    " a short job needs --grace 50s too, or a host whose clock is late runs it again";
  return { ...kept, after, notes: [note] };
}

/** Lines that would get a lock, so that no two of them get one name by chance. */
function plainLines({ jobs }: Crontab, manner: Manner): Plain[] {
  return jobs.flatMap(({ command, variables, schedule }) => {
    try {
      const { tools } = rewriteShell(command, { ...manner, variables });
      if (tools.length > 0 || schedule.toLowerCase() === "@reboot") return [];
      return plainLine(command, variables) ?? [];
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  });
}
