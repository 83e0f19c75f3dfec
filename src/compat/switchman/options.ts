import { formatDuration } from "../../base/duration.ts";
import { SETTINGS, type SettingKey } from "../../config/settings.ts";
import { computeSmallestTtl } from "../../config/ttl.ts";
import { listLeasesToHold, type SwitchmanCall } from "../../syntax/switchman-call.ts";
import type { SwitchmanConfig } from "./config.ts";

/** The value of a signalbox setting, and its source. */
export interface SwitchmanSetting {
  value: string | readonly string[];
  source: string;
}

/** A switchman line in terms of signalbox, for the front end and for `migrate crontab`. */
export interface SwitchmanOptions {
  /** Flags of `signalbox run`. */
  flags: { lock?: string; "no-lock"?: true; lease: readonly string[] };
  settings: Partial<Record<SettingKey, SwitchmanSetting>>;
  /** Neither the line nor its file names endpoints, so the signalbox configuration must. */
  needsEndpoints: boolean;
  /** The task's name, by which switchman recognizes queued tasks. */
  task: string;
  command: readonly string[];
}

/** Builds the options from a line and its configuration file. */
export function buildSwitchmanOptions(call: SwitchmanCall, config: SwitchmanConfig): SwitchmanOptions {
  const { lock, name } = call;
  return {
    flags: { ...(lock === undefined ? { "no-lock": true } : { lock }), lease: listLeasesToHold(call) },
    settings: {
      ...buildEndpointSettings(call, config),
      ...(config.etcdprefix !== undefined && {
        prefix: createSetting(config, "etcdprefix", config.etcdprefix),
      }),
      ...(call.group !== undefined && { group: { value: call.group, source: "--group" } }),
      ...(lock === undefined && { label: { value: name, source: "--lockname" } }),
      ...buildTimeSettings(config),
    },
    needsEndpoints: call.endpoints === undefined && config.etcdhosts === undefined,
    task: name,
    command: splitExecWords(call.command),
  };
}

function buildEndpointSettings(
  { endpoints }: SwitchmanCall,
  config: SwitchmanConfig,
): SwitchmanOptions["settings"] {
  if (endpoints !== undefined) return { endpoints: { value: endpoints, source: "--endpoints" } };
  if (config.etcdhosts === undefined) return {};
  return { endpoints: createSetting(config, "etcdhosts", config.etcdhosts) };
}

/**
 * Builds the time settings. A long termination timeout needs a longer ttl, because the child must have ended when the
 * ttl expires.
 */
function buildTimeSettings(config: SwitchmanConfig): SwitchmanOptions["settings"] {
  const { terminationTimeout: termination, resourcesWaitTimeout: wait } = config;
  const ttl = termination === undefined ? 0 : computeSmallestTtl(termination * 1000);
  return {
    ...(termination !== undefined && {
      terminationTimeout: createSetting(config, "termination_timeout", formatSeconds(termination)),
    }),
    ...(ttl > SETTINGS.ttl.default && {
      ttl: createSetting(config, "termination_timeout", formatDuration(ttl)),
    }),
    ...(wait > 0 && { leaseTimeout: createSetting(config, "resources_wait_timeout", formatSeconds(wait)) }),
  };
}

function formatSeconds(count: number): string {
  return formatDuration(count * 1000);
}

function createSetting(
  { path }: SwitchmanConfig,
  key: string,
  value: SwitchmanSetting["value"],
): SwitchmanSetting {
  return { value, source: `${path}: ${key}` };
}

/** Matches a single expansion, which may become several words. */
const EXPANSION = /^[\ue000-\uf8ff]$/u;
/** Matches texts that Perl's `exec` passes to the shell, and the characters that stand for expansions. */
const FOR_SHELL = /[$&*(){}[\]'";\\|?<>~`\n\ue000-\uf8ff]|^[ \t]*(?:exec\s|\w+=)/u;

/**
 * Splits a command like Perl's `exec`: a single word is a text, which goes to the shell if it needs one and is
 * otherwise split at blanks.
 */
export function splitExecWords(command: readonly string[]): readonly string[] {
  const [text = "", ...others] = command;
  if (others.length > 0 || EXPANSION.test(text) || !/[^ \t\r\f\v]/.test(text)) return command;
  return FOR_SHELL.test(text)
    ? ["/bin/sh", "-c", text]
    : text.split(/[ \t\r\f\v]+/).filter((word) => word !== "");
}
