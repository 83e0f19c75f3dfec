import {
  computeTimeSinceSuccess,
  judgeRecentRuns,
  type RecentRuns,
} from "../../../model/checks/recent-runs.ts";
import { parseDurationFlag } from "../../command-line/flags.ts";
import type { Call, CommandExecutor } from "../../spec.ts";
import { type CommandContext, createStoreCommand } from "../../store-command.ts";
import { type CheckFigure, type CheckReport, printReport, reportErrorsToNagios } from "../findings.ts";

/** Default of `--within`: a day and an hour, since a daily job may be an hour late. In ms. */
const USUAL = 25 * 3_600_000;

/** The recent runs of the named jobs, read at one revision. */
export interface RecentJobs {
  jobs: readonly RecentRuns[];
  revision: bigint;
}

/** Creates a command that checks when jobs last succeeded. */
export function createRecentRunsCommand(
  read: (context: CommandContext, call: Call) => Promise<RecentJobs>,
): CommandExecutor {
  return reportErrorsToNagios(
    createStoreCommand(async (call, io, context) => {
      const report = toReport(call, await read(context, call), context.clock.getWallTime());
      return printReport(report, call, io);
    }),
  );
}

function toReport(call: Call, { jobs, revision }: RecentJobs, wall: number): CheckReport {
  const limit = { within: parseDurationFlag(call, "within") ?? USUAL, wall };
  const findings = jobs.map((job) => judgeRecentRuns(job, limit));
  const count = (level: string) => findings.filter((finding) => finding.level === level).length;
  const ages = jobs.map((job) => computeTimeSinceSuccess(job, limit));
  const oldest: CheckFigure[] = ages.every((age) => age !== undefined)
    ? [{ name: "oldest_success", value: Math.max(...ages), unit: "ms", critical: limit.within }]
    : [];
  return {
    findings,
    revision,
    summary: formatSummary(findings),
    figures: [
      { name: "jobs", value: jobs.length },
      { name: "overdue", value: count("failure"), critical: 0 },
      { name: "failed_since", value: count("warning"), warning: 0 },
      ...oldest,
    ],
  };
}

function formatSummary(findings: CheckReport["findings"]): string {
  const [only] = findings;
  if (only !== undefined && findings.length === 1) return `${only.check} ${only.detail}`;
  return `each of ${findings.length} succeeded in time`;
}
