import type { Finding } from "../../base/finding.ts";
import { quoteText } from "../../base/text.ts";
import { canonicalizeHost, createUnknownGroupError, listGroupHosts } from "../../fleet/groups.ts";
import { buildGroupMembers, type Snapshot } from "../snapshot/snapshot.ts";
import type { CrontabJob } from "./crontab-job.ts";
import { judgeLeases } from "./leases.ts";

/** The configuration in etcd that jobs depend on. */
export type JobConfiguration = Pick<Snapshot, "groups" | "resources" | "hosts">;

/**
 * Finds problems of crontab jobs that a check of their text alone does not find.
 * @param configured  undefined if etcd was not read; then only the facts of this host are used
 * @param shared  locks that different commands are meant to share
 */
export function judgeJobs(
  jobs: readonly CrontabJob[],
  configured: JobConfiguration | undefined,
  shared: ReadonlySet<string>,
): Finding[] {
  return [
    ...jobs.flatMap((job) => {
      const known = job.isElsewhere ? undefined : configured;
      return [...judgeGroup(job, known), ...judgeLeases(job, findGroupHosts(job, known), known)];
    }),
    ...(configured === undefined
      ? []
      : jobs.filter(({ isElsewhere }) => isElsewhere).map(buildElsewhereFinding)),
    ...judgeLocks(jobs, shared),
  ];
}

function buildElsewhereFinding({ where }: CrontabJob): Finding {
  const detail = "it uses another prefix or another etcd; only its text was checked";
  return { kind: "elsewhere", check: where, level: "hint", detail };
}

function judgeGroup({ where, group }: CrontabJob, configured: JobConfiguration | undefined): Finding[] {
  if (group === undefined || configured === undefined) return [];
  const about = { kind: "group", check: where, level: "failure" } as const;
  const groups = buildGroupMembers(configured);
  if (!groups.has(group)) return [{ ...about, detail: createUnknownGroupError(groups, group).message }];
  const fault = configured.groups.get(group)?.fault;
  if (fault !== undefined)
    return [{ ...about, detail: `group ${quoteText(group)} cannot be read, so it has no hosts: ${fault}` }];
  if (listGroupHosts(groups, group).length > 0) return [];
  return [
    {
      ...about,
      detail: `group ${quoteText(group)} has no hosts: it can run nowhere`,
      remedy: `signalbox group add ${group} HOST`,
    },
  ];
}

/** Lists the canonical names of the hosts in the group of a job; undefined without a known group. */
function findGroupHosts(
  { group }: CrontabJob,
  configured: JobConfiguration | undefined,
): readonly string[] | undefined {
  if (group === undefined || configured === undefined) return undefined;
  const groups = buildGroupMembers(configured);
  return groups.has(group) ? listGroupHosts(groups, group).map(canonicalizeHost) : undefined;
}

/** Finds locks that different commands use, and locks used with different options. */
function judgeLocks(jobs: readonly CrontabJob[], shared: ReadonlySet<string>): Finding[] {
  return [...Map.groupBy(jobs, ({ lock }) => lock?.name)].flatMap(([name, users]) => {
    if (name === undefined) return [];
    return [...(shared.has(name) ? [] : findSharedLocks(name, users)), ...findDisagreements(name, users)];
  });
}

function findSharedLocks(name: string, [first, ...others]: readonly CrontabJob[]): Finding[] {
  if (first === undefined) return [];
  const seen = new Set([joinCommand(first)]);
  return others.flatMap((job): Finding[] => {
    if (seen.has(joinCommand(job))) return [];
    seen.add(joinCommand(job));
    const isNamed = job.lock?.isNamed === true;
    const why = isNamed ? "" : ", its command's base name,";
    return [
      {
        kind: "shared-lock",
        check: job.where,
        level: "warning",
        detail: `lock ${quoteText(name)}${why} is also used by another command (${first.where}): while one runs, the other does not`,
        remedy: `give it a --lock of its own; if this is intended: --shared ${name}`,
      },
    ];
  });
}

function joinCommand({ command }: CrontabJob): string {
  return command.join("\0");
}

function findDisagreements(name: string, [first, ...others]: readonly CrontabJob[]): Finding[] {
  return others.flatMap((job) => {
    const differ =
      first === undefined ? [] : (["ttl", "grace"] as const).filter((key) => job[key] !== first[key]);
    return differ.map(
      (key): Finding => ({
        kind: "disagreement",
        check: job.where,
        level: "hint",
        detail: `${key} of lock ${quoteText(name)} differs from ${first?.where}`,
      }),
    );
  });
}
