import { SignalboxError } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { quoted } from "../../base/text.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import { canonicalHost } from "../../fleet/groups.ts";
import { type LeaseSpec, parseLeases } from "../../fleet/lease-spec.ts";
import { type Macros, macrosOf } from "../../fleet/macros.ts";
import { macrosOn } from "../configuring/totals.ts";
import type { Picture } from "../picture.ts";
import type { Job } from "./job.ts";

type Configured = Pick<Picture, "resources" | "hosts">;

/** Hosts that are named in one finding; of more, only how many they are. */
const MANY = 5;

/**
 * Whether a job's leases could ever be granted, by the rules of runs: on every host that it is for.
 * @param hosts  canonical names; undefined for the host of the crontab alone
 */
export function judgeLeases(
  job: Job,
  hosts: readonly string[] | undefined,
  configured: Configured | undefined,
): Finding[] {
  if (job.leases.length === 0) return [];
  const own = canonicalHost(job.here.fqdn);
  const known = (hosts ?? []).filter((host) => host === own || configured?.hosts.has(host));
  const asked = known.length > 0 ? known : [own];
  const faults = new Map<string, string[]>();
  for (const host of asked) {
    const fault = faultOn(job, host, configured);
    if (fault !== undefined) faults.set(fault, [...(faults.get(fault) ?? []), host]);
  }
  const failed = [...faults.values()].flat().length;
  return [...faults].map(([fault, where]) => {
    const isEverywhere = failed === asked.length;
    const names = hosts === undefined ? "here" : `on ${listed(where)}`;
    const isPlain = isEverywhere && faults.size === 1;
    const detail = isPlain ? `${fault}: it can run nowhere` : `it cannot run ${names}: ${fault}`;
    // What switchman's Perl can reckon and we cannot is no fault of the line as it stands.
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

function listed(hosts: readonly string[]): string {
  const more = hosts.length > MANY ? [`${hosts.length - MANY} more`] : [];
  return [...hosts.slice(0, MANY), ...more].join(", ");
}

/** Why the leases cannot be had on a host; undefined where they can, or where too little is known of it. */
function faultOn(job: Job, host: string, configured: Configured | undefined): string | undefined {
  const isOwn = host === canonicalHost(job.here.fqdn);
  const record = configured?.hosts.get(host);
  const isKnown = isOwn || (record?.cpu !== undefined && record.memMb !== undefined);
  const macros = isOwn ? macrosOf(job.here) : macrosOn(host, record);
  const fault = faultWith(job.leases, macros, configured);
  return isKnown ? fault : undefined;
}

function faultWith(
  specs: readonly string[],
  macros: Macros,
  configured: Configured | undefined,
): string | undefined {
  try {
    const leases = parseLeases(specs, macros);
    if (configured === undefined) return undefined;
    return leases.map((lease) => totalFault(lease, macros, configured)).find((fault) => fault !== undefined);
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

/** The rule of runs: the resource's own total, else that of the name before macros, else the one on the line. */
function totalFault(lease: LeaseSpec, macros: Macros, { resources }: Configured): string | undefined {
  const { resource, template, count, total: stated } = lease;
  const kept = [resource, template].flatMap((name) =>
    name === undefined ? [] : (resources.get(name) ?? []),
  );
  const broken = kept.find(({ fault }) => fault !== undefined);
  if (broken?.fault !== undefined) return `resource ${quoted(resource)} cannot be read: ${broken.fault}`;
  const text = kept.map(({ value }) => value?.total).find((total) => total !== undefined);
  if (text === undefined)
    return stated === undefined
      ? `resource ${quoted(resource)} has no total, neither configured nor in --lease`
      : undefined;
  const total = evaluateUnits(text, macros.lookup);
  if ("fault" in total) return `the configured total of resource ${quoted(resource)}: ${total.fault}`;
  if (stated !== undefined && stated !== total.value)
    return `resource ${quoted(resource)} has a configured total of ${total.value}, the line says ${stated}`;
  if (count > total.value)
    return `${count} units of resource ${quoted(resource)} are asked for, there are ${total.value}`;
  return undefined;
}
