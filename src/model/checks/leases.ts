import { SignalboxError } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { quoteText } from "../../base/text.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import { canonicalizeHost } from "../../fleet/groups.ts";
import { type LeaseSpec, parseLeases } from "../../fleet/lease-spec.ts";
import { createMacros, type Macros } from "../../fleet/macros.ts";
import { buildHostMacros } from "../config-impact/totals.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { CrontabJob } from "./crontab-job.ts";
import { formatHostNames } from "./host-names.ts";

type LeaseConfiguration = Pick<Snapshot, "resources" | "hosts">;

/**
 * Checks, by the rules of runs, whether the leases of a job can be granted on every host that it is for.
 * @param hosts  canonical names; undefined for only the host of the crontab
 */
export function judgeLeases(
  job: CrontabJob,
  hosts: readonly string[] | undefined,
  configured: LeaseConfiguration | undefined,
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
  configured: LeaseConfiguration | undefined,
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
  configured: LeaseConfiguration | undefined,
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
  { resources }: LeaseConfiguration,
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
