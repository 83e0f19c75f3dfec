import type { Millis } from "../../../core/base/clock.ts";
import { SignalboxError } from "../../../core/base/errors.ts";
import { createFindingBuilder, type Finding } from "../../../core/base/finding.ts";
import { canonicalizeHost, quoteText } from "../../../core/base/text.ts";
import { evaluateUnits } from "../../../core/fleet/arithmetic.ts";
import { createUnknownGroupError, listGroupHosts } from "../../../core/fleet/groups.ts";
import { type LeaseSpec, parseLeases } from "../../../core/fleet/lease-spec.ts";
import { createMacros, type MacroFacts, type Macros } from "../../../core/fleet/macros.ts";
import { buildHostMacros } from "../../../site/state/configuration.ts";
import { buildGroupMembers, type Snapshot } from "../../../site/state/snapshot.ts";
import { formatHostNames } from "./hosts.ts";

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
    ...jobs
      .filter(({ isElsewhere }) => isElsewhere && configured !== undefined)
      .map(({ where }) =>
        createFindingBuilder("elsewhere", where).hint(
          "it uses another prefix or another etcd; only its text was checked",
        ),
      ),
    ...judgeLocks(jobs, shared),
  ];
}

function judgeGroup({ where, group }: CrontabJob, configured: JobConfiguration | undefined): Finding[] {
  if (group === undefined || configured === undefined) return [];
  const about = createFindingBuilder("group", where);
  const groups = buildGroupMembers(configured);
  if (!groups.has(group)) return [about.failure(createUnknownGroupError(groups, group).message)];
  const fault = configured.groups.get(group)?.fault;
  if (fault !== undefined)
    return [about.failure(`group ${quoteText(group)} cannot be read, so it has no hosts: ${fault}`)];
  if (listGroupHosts(groups, group).length > 0) return [];
  return [
    about.failure(
      `group ${quoteText(group)} has no hosts: it can run nowhere`,
      `signalbox group add ${group} HOST`,
    ),
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
  const names = new Set(jobs.flatMap(({ locks }) => locks.map(({ name }) => name)));
  return [...names].flatMap((name) => {
    const users = jobs.filter(({ locks }) => locks.some((lock) => lock.name === name));
    return [...(shared.has(name) ? [] : findSharedLocks(name, users)), ...findDisagreements(name, users)];
  });
}

function findSharedLocks(name: string, [first, ...others]: readonly CrontabJob[]): Finding[] {
  if (first === undefined) return [];
  const seen = new Set([joinCommand(first)]);
  return others.flatMap((job): Finding[] => {
    if (seen.has(joinCommand(job)) || (job.isShared && first.isShared)) return [];
    seen.add(joinCommand(job));
    const why = job.locks.some((lock) => lock.isNamed) ? "" : ", its command's base name,";
    return [
      createFindingBuilder("shared-lock", job.where).warning(
        `lock ${quoteText(name)}${why} is also used by another command (${first.where}): while one runs, the other does not`,
        `give it a --lock of its own; if this is intended: --shared ${name}`,
      ),
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
      (key): Finding =>
        createFindingBuilder("disagreement", job.where).hint(
          `${key} of lock ${quoteText(name)} differs from ${first?.where}`,
        ),
    );
  });
}

/**
 * Checks, by the rules of runs, whether the leases of a job can be granted on every host that it is for.
 * @param hosts  canonical names; undefined for only the host of the crontab
 */
function judgeLeases(
  job: CrontabJob,
  hosts: readonly string[] | undefined,
  configured: JobConfiguration | undefined,
): Finding[] {
  if (job.leases.length === 0) return [];
  const own = canonicalizeHost(job.here.fqdn);
  const known = (hosts ?? []).filter((host) => host === own || configured?.hosts.has(host));
  const asked = known.length > 0 ? known : [own];
  const faults = new Map<string, string[]>();
  for (const host of asked) {
    const fault = findFaultOnHost(job, host, configured);
    if (fault !== undefined) faults.set(fault, [...(faults.get(fault) ?? []), host]);
  }
  const failed = [...faults.values()].flat().length;
  return [...faults].map(([fault, where]) => {
    const isEverywhere = failed === asked.length;
    const names = hosts === undefined ? "here" : `on ${formatHostNames(where)}`;
    const isPlain = isEverywhere && faults.size === 1;
    const detail = isPlain ? `${fault}: it can run nowhere` : `it cannot run ${names}: ${fault}`;
    // switchman evaluates Perl expressions that signalbox does not support: such a line is not wrong.
    const level =
      isEverywhere && job.tool === "signalbox" && !(hosts !== undefined && known.length === 0)
        ? "failure"
        : "warning";
    return {
      kind: "lease",
      check: job.where,
      level,
      detail: hosts === undefined && isPlain ? fault : detail,
    };
  });
}

/** Returns why the leases cannot be granted on a host; undefined if they can, or if too little is known of the host. */
function findFaultOnHost(
  job: CrontabJob,
  host: string,
  configured: JobConfiguration | undefined,
): string | undefined {
  const isOwn = host === canonicalizeHost(job.here.fqdn);
  const record = configured?.hosts.get(host);
  const isKnown = isOwn || (record?.cpu !== undefined && record.memMb !== undefined);
  const macros = isOwn ? createMacros(job.here) : buildHostMacros(host, record);
  const fault = findFault(job.leases, macros, configured);
  return isKnown ? fault : undefined;
}

function findFault(
  specs: readonly string[],
  macros: Macros,
  configured: JobConfiguration | undefined,
): string | undefined {
  try {
    const leases = parseLeases(specs, macros);
    if (configured === undefined) return undefined;
    return leases
      .map((lease) => findTotalFault(lease, macros, configured))
      .find((fault) => fault !== undefined);
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

/** Applies the rule of runs: the total of the resource, else of the name before macros, else the one on the line. */
function findTotalFault(
  lease: LeaseSpec,
  macros: Macros,
  { resources }: JobConfiguration,
): string | undefined {
  const { resource, template, count, total: stated } = lease;
  const kept = [resource, template].flatMap((name) =>
    name === undefined ? [] : (resources.get(name) ?? []),
  );
  const broken = kept.find(({ fault }) => fault !== undefined);
  if (broken?.fault !== undefined) return `resource ${quoteText(resource)} cannot be read: ${broken.fault}`;
  const text = kept.map(({ value }) => value?.total).find((total) => total !== undefined);
  if (text === undefined)
    return stated === undefined
      ? `resource ${quoteText(resource)} has no total, neither configured nor in --lease`
      : undefined;
  const total = evaluateUnits(text, macros.lookup);
  if ("fault" in total) return `the configured total of resource ${quoteText(resource)}: ${total.fault}`;
  if (stated !== undefined && stated !== total.value)
    return `resource ${quoteText(resource)} has a configured total of ${total.value}, but the line states ${stated}`;
  if (count > total.value)
    return `${count} units of resource ${quoteText(resource)} are requested, but there are only ${total.value}`;
  return undefined;
}

/** A crontab job, as far as its line can be parsed without running it. Durations in ms. */
export interface CrontabJob {
  /** File and line: `/etc/cron.d/jobs:12`. */
  where: string;
  tool: "signalbox" | "switchman";
  /** Undefined: the job takes no lock, or the shell computes its name. */
  locks: readonly { name: string; isNamed: boolean }[];
  /** Whether it shares them. */
  isShared: boolean;
  group: string | undefined;
  /** As in `--lease`. */
  leases: readonly string[];
  ttl: number;
  grace: Millis | undefined;
  command: readonly string[];
  /** The host that the line runs on, as configured here. */
  here: MacroFacts;
  /** Whether it uses another prefix or another etcd, whose configuration is not known. */
  isElsewhere: boolean;
}
