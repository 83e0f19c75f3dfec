import type { Finding } from "../../base/finding.ts";
import { quoted } from "../../base/text.ts";
import { canonicalHost, hostsOf, unknownGroup } from "../../fleet/groups.ts";
import { membersOf, type Picture } from "../picture.ts";
import type { Job } from "./job.ts";
import { judgeLeases } from "./leases.ts";

/** What is configured in etcd, as far as jobs depend on it. */
export type Configured = Pick<Picture, "groups" | "resources" | "hosts">;

/**
 * What is wrong with the jobs of crontabs that their text alone does not show.
 * @param configured  undefined: etcd was not asked; then only this host's own facts are considered
 * @param shared  locks that different commands are meant to share
 */
export function judgeJobs(
  jobs: readonly Job[],
  configured: Configured | undefined,
  shared: ReadonlySet<string>,
): Finding[] {
  return [
    ...jobs.flatMap((job) => {
      const known = job.isElsewhere ? undefined : configured;
      return [...judgeGroup(job, known), ...judgeLeases(job, hostsFor(job, known), known)];
    }),
    ...(configured === undefined ? [] : jobs.filter(({ isElsewhere }) => isElsewhere).map(elsewhere)),
    ...judgeLocks(jobs, shared),
  ];
}

function elsewhere({ where }: Job): Finding {
  const detail = "it works under another prefix or in another etcd; only its text was checked";
  return { kind: "elsewhere", check: where, level: "hint", detail };
}

function judgeGroup({ where, group }: Job, configured: Configured | undefined): Finding[] {
  if (group === undefined || configured === undefined) return [];
  const about = { kind: "group", check: where, level: "failure" } as const;
  const groups = membersOf(configured);
  if (!groups.has(group)) return [{ ...about, detail: unknownGroup(groups, group).message }];
  const fault = configured.groups.get(group)?.fault;
  if (fault !== undefined)
    return [{ ...about, detail: `group ${quoted(group)} cannot be read, so nobody is in it: ${fault}` }];
  if (hostsOf(groups, group).length > 0) return [];
  return [
    {
      ...{ ...about, detail: `group ${quoted(group)} has no hosts: it can run nowhere` },
      remedy: `signalbox group add ${group} HOST`,
    },
  ];
}

/** The hosts of the job's group, with what they said of themselves; undefined where it is for this host alone. */
function hostsFor({ group }: Job, configured: Configured | undefined): readonly string[] | undefined {
  if (group === undefined || configured === undefined) return undefined;
  const groups = membersOf(configured);
  return groups.has(group) ? hostsOf(groups, group).map(canonicalHost) : undefined;
}

/** Locks of different commands, and of the same lock different ideas. */
function judgeLocks(jobs: readonly Job[], shared: ReadonlySet<string>): Finding[] {
  const byLock = new Map<string, Job[]>();
  for (const job of jobs) {
    if (job.lock === undefined) continue;
    const known = byLock.get(job.lock.name);
    if (known === undefined) byLock.set(job.lock.name, [job]);
    else known.push(job);
  }
  return [...byLock].flatMap(([name, users]) => [
    ...(shared.has(name) ? [] : strangers(name, users)),
    ...disagreements(name, users),
  ]);
}

function strangers(name: string, [first, ...others]: readonly Job[]): Finding[] {
  if (first === undefined) return [];
  const seen = new Set([words(first)]);
  return others.flatMap((job): Finding[] => {
    if (seen.has(words(job))) return [];
    seen.add(words(job));
    const isNamed = job.lock?.isNamed === true;
    const why = isNamed ? "" : ", its command's base name,";
    return [
      {
        ...{ kind: "shared-lock", check: job.where, level: "warning" },
        detail: `lock ${quoted(name)}${why} is also that of another command (${first.where}): while one runs, the other does not`,
        remedy: `give it a --lock of its own; if it is meant so: --shared ${name}`,
      },
    ];
  });
}

function words({ command }: Job): string {
  return command.join("\0");
}

function disagreements(name: string, [first, ...others]: readonly Job[]): Finding[] {
  return others.flatMap((job) => {
    const differ =
      first === undefined ? [] : (["ttl", "grace"] as const).filter((key) => job[key] !== first[key]);
    return differ.map(
      (key): Finding => ({
        ...{ kind: "disagreement", check: job.where, level: "hint" },
        detail: `${key} of lock ${quoted(name)} is another than in ${first?.where}`,
      }),
    );
  });
}
