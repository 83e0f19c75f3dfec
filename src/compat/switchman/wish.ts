import { formatDuration } from "../../base/duration.ts";
import { SETTINGS, type SettingKey } from "../../config/settings.ts";
import { smallestTtl } from "../../config/ttl.ts";
import { leasesToHold, type SwitchmanCall } from "../../fleet/switchman-words.ts";
import type { SwitchmanConfig } from "./config.ts";
import { execWords } from "./perl-exec.ts";

/** A value for a setting of ours, and where it stood. */
export interface Wanted {
  value: string | readonly string[];
  source: string;
}

/** A line of switchman in our words: what the front end runs, and what `migrate crontab` writes. */
export interface SwitchmanWish {
  /** Flags of `signalbox run`. */
  flags: { lock?: string; "no-lock"?: true; lease: readonly string[] };
  settings: Partial<Record<SettingKey, Wanted>>;
  /** Where neither the line nor its file says where etcd is, and no configuration of ours does: nothing can be done. */
  needsEndpoints: boolean;
  /** The task's name, by which switchman knows what is queued already. */
  task: string;
  command: readonly string[];
}

/** What a line and its configuration file come to. */
export function wishOf(call: SwitchmanCall, config: SwitchmanConfig): SwitchmanWish {
  const { lock, name } = call;
  return {
    flags: { ...(lock === undefined ? { "no-lock": true } : { lock }), lease: leasesToHold(call) },
    settings: {
      ...endpointsOf(call, config),
      ...(config.etcdprefix !== undefined && { prefix: from(config, "etcdprefix", config.etcdprefix) }),
      ...(call.group !== undefined && { group: { value: call.group, source: "--group" } }),
      ...(lock === undefined && { label: { value: name, source: "--lockname" } }),
      ...timesOf(config),
    },
    needsEndpoints: call.endpoints === undefined && config.etcdhosts === undefined,
    task: name,
    command: execWords(call.command),
  };
}

function endpointsOf({ endpoints }: SwitchmanCall, config: SwitchmanConfig): SwitchmanWish["settings"] {
  if (endpoints !== undefined) return { endpoints: { value: endpoints, source: "--endpoints" } };
  if (config.etcdhosts === undefined) return {};
  return { endpoints: from(config, "etcdhosts", config.etcdhosts) };
}

/** A child that gets long to end itself wants a longer time to live, as it must have ended when that is over. */
function timesOf(config: SwitchmanConfig): SwitchmanWish["settings"] {
  const { terminationTimeout: termination, resourcesWaitTimeout: wait } = config;
  const ttl = termination === undefined ? 0 : smallestTtl(termination * 1000);
  return {
    ...(termination !== undefined && {
      terminationTimeout: from(config, "termination_timeout", seconds(termination)),
    }),
    ...(ttl > SETTINGS.ttl.default && { ttl: from(config, "termination_timeout", formatDuration(ttl)) }),
    ...(wait > 0 && { leaseTimeout: from(config, "resources_wait_timeout", seconds(wait)) }),
  };
}

function seconds(count: number): string {
  return formatDuration(count * 1000);
}

function from({ path }: SwitchmanConfig, key: string, value: Wanted["value"]): Wanted {
  return { value, source: `${path}: ${key}` };
}
