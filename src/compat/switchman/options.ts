import { listLeasesToHold, parseSwitchman, type SwitchmanCall } from "../../cli/syntax/switchman-call.ts";
import { formatDuration, type Millis } from "../../core/base/clock.ts";
import { ConfigError, UsageError } from "../../core/base/errors.ts";
import { clean, collectTexts, quoteText } from "../../core/base/text.ts";
import { resolveConfig } from "../../core/config/config.ts";
import { type Env, parseConfigObject } from "../../core/config/files.ts";
import { thisMachine } from "../../core/config/machine.ts";
import { getFlagName, SETTINGS, type SettingKey } from "../../core/config/settings.ts";
import { computeSmallestTtl } from "../../core/config/ttl.ts";
import { evaluateExpression, type MacroLookup } from "../../core/fleet/arithmetic.ts";
import { readHostFacts } from "../../core/fleet/host.ts";
import { createMacros } from "../../core/fleet/macros.ts";
import type { LineTranslator } from "../front-end.ts";

/** The value of a signalbox setting, and its source. */
interface SwitchmanSetting {
  value: string | readonly string[];
  source: string;
}

/** A switchman line in terms of signalbox, for the front end and for `migrate crontab`. */
export interface SwitchmanOptions {
  /** Flags of `signalbox run`. */
  flags: { lock?: readonly string[]; "no-lock"?: true; lease: readonly string[] };
  settings: Partial<Record<SettingKey, SwitchmanSetting | undefined>>;
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
    flags: {
      ...(lock === undefined ? { "no-lock": true } : { lock: [lock] }),
      lease: listLeasesToHold(call),
    },
    settings: {
      endpoints:
        call.endpoints === undefined
          ? createSetting(config, "etcdhosts", config.etcdhosts)
          : { value: call.endpoints, source: "--endpoints" },
      prefix: createSetting(config, "etcdprefix", config.etcdprefix),
      group: call.group === undefined ? undefined : { value: call.group, source: "--group" },
      label: lock === undefined ? { value: name, source: "--lockname" } : undefined,
      ...buildTimeSettings(config),
    },
    needsEndpoints: call.endpoints === undefined && config.etcdhosts === undefined,
    task: name,
    command: splitExecWords(call.command),
  };
}

/**
 * Builds the time settings. A long termination timeout needs a longer ttl, because the child must have ended when the
 * ttl expires.
 */
function buildTimeSettings(config: SwitchmanConfig): SwitchmanOptions["settings"] {
  const { terminationTimeout: termination, resourcesWaitTimeout: wait } = config;
  const ttl = termination === undefined ? 0 : computeSmallestTtl(termination * 1000);
  return {
    terminationTimeout: createSetting(
      config,
      "termination_timeout",
      termination === undefined ? undefined : formatDuration(termination * 1000),
    ),
    ttl: createSetting(
      config,
      "termination_timeout",
      ttl > SETTINGS.ttl.default ? formatDuration(ttl) : undefined,
    ),
    leaseTimeout: createSetting(
      config,
      "resources_wait_timeout",
      wait > 0 ? formatDuration(wait * 1000) : undefined,
    ),
  };
}

function createSetting(
  { path }: SwitchmanConfig,
  key: string,
  value: SwitchmanSetting["value"] | undefined,
): SwitchmanSetting | undefined {
  return value === undefined ? undefined : { value, source: `${path}: ${key}` };
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

export const DEFAULT_CONFIG = "/etc/switchman.conf";

/** The contents of a switchman configuration file. */
export interface SwitchmanConfig {
  path: string;
  /** Addresses of etcd, as in the file; undefined if it names only those of ZooKeeper. */
  etcdhosts: string | readonly string[] | undefined;
  /** Prefix of the keys in etcd; undefined: the one configured for signalbox. */
  etcdprefix: string | undefined;
  logfile: string | undefined;
  loglevel: SwitchmanLevel;
  /** Whole seconds; 0: no timeout. */
  resourcesWaitTimeout: Millis;
  /** Whole seconds; undefined: the default. */
  terminationTimeout: Millis | undefined;
}

/**
 * Parses a configuration file: `prefix`, `zkhosts`, `logfile`, `loglevel`, `termination_timeout`,
 * `resources_wait_timeout`; and two keys that switchman ignores, `etcdhosts` and `etcdprefix`. Ignores
 * `data_read_len`, which only concerns ZooKeeper.
 * @throws ConfigError if switchman would not start with it
 */
export function parseSwitchmanConfig(path: string, text: string): SwitchmanConfig {
  const where = clean(path);
  const json = text.replace(/^\ufeff/, "");
  const fields = parseConfigObject(where, json, '{"prefix": "/myproject/switchman"}');
  const { prefix, etcdhosts, etcdprefix, logfile, loglevel } = fields;
  checkHosts(where, fields);
  if (!isTruthyInPerl(prefix)) throw new ConfigError(`prefix is not defined in ${where}`);
  if (typeof prefix !== "string" || !/^(?:\/[^/]+)+$/.test(prefix))
    throw createValueError(where, "prefix", prefix, 'a path such as "/myproject/switchman"');
  return {
    path,
    etcdhosts: parseHosts(where, etcdhosts),
    etcdprefix: parseText(where, "etcdprefix", etcdprefix),
    logfile: parseText(where, "logfile", logfile),
    loglevel: parseLevel(where, loglevel),
    resourcesWaitTimeout: parseWholeSeconds(where, "resources_wait_timeout", fields) ?? 0,
    terminationTimeout: parseWholeSeconds(where, "termination_timeout", fields),
  };
}

function checkHosts(where: string, { zkhosts, etcdhosts }: Record<string, unknown>): void {
  if (!isTruthyInPerl(zkhosts) && !isTruthyInPerl(etcdhosts))
    throw new ConfigError(
      `neither zkhosts nor etcdhosts is defined in ${where}; add "etcdhosts": "etcd1:2379,etcd2:2379"`,
    );
  if (typeof zkhosts === "string" && /\/\w+/.test(zkhosts))
    throw createValueError(
      where,
      "zkhosts",
      zkhosts,
      "a list of hosts without a path (switchman has prefix for that)",
    );
}

function parseHosts(where: string, value: unknown): SwitchmanConfig["etcdhosts"] {
  if (!isTruthyInPerl(value)) return undefined;
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((one): one is string => typeof one === "string");
  if (isList) return value;
  // The value is not shown: an address may contain a password.
  throw new ConfigError(
    `bad etcdhosts in ${where}: it is neither a string such as "etcd1:2379" nor a list of such strings`,
  );
}

/** Whether a value is true in Perl: an empty text, 0 and "0" are false. */
function isTruthyInPerl(value: unknown): boolean {
  return Boolean(value) && value !== "0";
}

function parseText(where: string, key: string, value: unknown): string | undefined {
  if (!isTruthyInPerl(value)) return undefined;
  if (typeof value === "string") return value;
  throw createValueError(where, key, value, "a string");
}

function parseLevel(where: string, value: unknown): SwitchmanLevel {
  const level = isTruthyInPerl(value) ? findSwitchmanLevel(String(value)) : "info";
  if (level === undefined) throw createValueError(where, "loglevel", value, `one of ${LEVELS.join(", ")}`);
  return level;
}

function parseWholeSeconds(where: string, key: string, fields: Record<string, unknown>): number | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === "string" || typeof value === "number";
  if (isNumber && /^\d{1,9}$/.test(String(value))) return Number(value);
  throw createValueError(where, key, value, "a whole number of seconds");
}

function createValueError(where: string, key: string, value: unknown, wanted: string): ConfigError {
  const shown = typeof value === "string" ? quoteText(value) : clean(JSON.stringify(value) ?? "nothing", 60);
  return new ConfigError(`bad ${key} in ${where}: ${shown} is not ${wanted}`);
}

/** Levels of switchman's log (Perl's Log::Dispatch), the lowest first. */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type SwitchmanLevel = (typeof LEVELS)[number];

const SHORT_OPTIONS: Readonly<Record<string, SwitchmanLevel>> = {
  warn: "warning",
  err: "error",
  crit: "critical",
  emerg: "emergency",
};

/** Finds a level by its name or its short name. */
function findSwitchmanLevel(name: string): SwitchmanLevel | undefined {
  return (
    LEVELS.find((level) => level === name) ??
    (Object.hasOwn(SHORT_OPTIONS, name) ? SHORT_OPTIONS[name] : undefined)
  );
}

export function isAtLeastLevel(level: SwitchmanLevel, least: SwitchmanLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** Returns the nearest signalbox level. */
function toSignalboxLevel(level: SwitchmanLevel): "debug" | "info" | "warn" | "error" {
  if (level === "debug" || level === "info") return level;
  return level === "notice" || level === "warning" ? "warn" : "error";
}

/** Replaces a configuration file that is not available: its settings are left to the signalbox configuration. */
const UNKNOWN_CONFIG: SwitchmanConfig = {
  path: DEFAULT_CONFIG,
  etcdhosts: undefined,
  etcdprefix: undefined,
  logfile: undefined,
  loglevel: "info",
  resourcesWaitTimeout: 0,
  terminationTimeout: undefined,
};

/** Translates a line of switchman to `signalbox run`. @throws UsageError, ConfigError if switchman would refuse it */
export const translateSwitchman: LineTranslator = (words, { files }) => {
  const call = removeZeros(parseSwitchman(words), () => undefined); // without the options whose value is 0 on every host
  if (call.asks !== undefined) throw new UsageError(`switchman: the line only prints the ${call.asks}`);
  const path = call.config ?? DEFAULT_CONFIG;
  const text = files.get(path);
  const config = text === undefined ? undefined : parseSwitchmanConfig(path, text);
  const parsed = buildSwitchmanOptions(call, config ?? UNKNOWN_CONFIG);
  return {
    options: buildRunFlags(parsed, config),
    command: parsed.command,
    notes: buildNotes(call, parsed, config, path),
  };
};

function buildRunFlags(
  { flags, settings, command }: SwitchmanOptions,
  config: SwitchmanConfig | undefined,
): string[] {
  const { lock: [lock] = [], lease } = flags;
  const [file = ""] = command;
  const isUsual = lock === file.slice(file.lastIndexOf("/") + 1);
  const log = config?.logfile;
  return [
    "-E",
    "0",
    ...(lock === undefined ? ["--no-lock"] : isUsual ? [] : ["--lock", lock]),
    ...lease.flatMap((one) => ["--lease", one]),
    ...Object.entries(settings).flatMap(([key, wanted]) => formatFlag(key as SettingKey, wanted)),
    ...(log === undefined
      ? []
      : ["--log-file", log, "--log-level", toSignalboxLevel(config?.loglevel ?? "info")]),
  ];
}

function formatFlag(key: SettingKey, setting: SwitchmanSetting | undefined): string[] {
  if (setting === undefined) return [];
  const { value } = setting;
  const text = typeof value === "string" ? value : value.join(",");
  return key === "group" ? ["-g", text] : [getFlagName(key) ?? "", text];
}

function buildNotes(
  call: SwitchmanCall,
  { needsEndpoints, flags }: SwitchmanOptions,
  config: SwitchmanConfig | undefined,
  path: string,
): string[] {
  const file = quoteText(path);
  const isFileNamed = call.config !== undefined;
  return collectTexts([
    config === undefined &&
      `${file} was not read, so its timeouts and its log are not in the new line; run this on a host that has the file`,
    needsEndpoints && "signalbox's own configuration must say where etcd is",
    isFileNamed &&
      config !== undefined &&
      config.etcdprefix === undefined &&
      `the prefix in ${file} no longer separates locks; if two files have different prefixes, add --prefix`,
    call.leases.some(canBeZero) &&
      "if a lease evaluates to 0 units, signalbox run refuses it (64), and switchman runs without it: write max(1, ...)",
    config?.logfile !== undefined &&
      "warnings go only to the log, and no longer to standard error; the format of its lines differs",
    flags["no-lock"] &&
      (call.leases.length > 0
        ? "each run queues for the lease, even if a run of this name already waits for it"
        : "without lock and lease, a run holds one unit of a resource of its own"),
  ]);
}

/**
 * Removes leases that evaluate to 0 units on this host (`FQDN_cpu=int(CPU/4):CPU` with three CPUs): switchman runs
 * such a command without holding the resource.
 */
export function removeZeroLeases(call: SwitchmanCall, env: Env): SwitchmanCall {
  if (call.leases.length === 0) return call;
  const { host, macros } = resolveConfig({ env }).values;
  const { lookup } = createMacros(readHostFacts(thisMachine, { host, macros }));
  return removeZeros(call, lookup);
}

function removeZeros(call: SwitchmanCall, lookup: MacroLookup): SwitchmanCall {
  const leases = call.leases.filter((lease) => {
    const units = evaluateExpression(getUnitsText(lease), lookup);
    return !("value" in units && units.value === 0);
  });
  return { ...call, leases };
}

/** Whether the units of a lease may be 0 on some host. */
function canBeZero(lease: string): boolean {
  return /[-/%]|\b(?:int|floor|round|min)\b/.test(getUnitsText(lease));
}

/** Returns the units of a lease as text: `4` for `mem=4:int(MEMMB/1024)`. */
function getUnitsText(lease: string): string {
  return /^[^=]*=([^:]*)/.exec(lease)?.[1] ?? "";
}
