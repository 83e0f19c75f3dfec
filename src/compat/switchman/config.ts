import { ConfigError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import { parseConfigObject } from "../../config/json-object.ts";

/** The default configuration file. */
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
  resourcesWaitTimeout: number;
  /** Whole seconds; undefined: the default. */
  terminationTimeout: number | undefined;
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

const SHORT: Readonly<Record<string, SwitchmanLevel>> = {
  warn: "warning",
  err: "error",
  crit: "critical",
  emerg: "emergency",
};

/** Finds a level by its name or its short name. */
function findSwitchmanLevel(name: string): SwitchmanLevel | undefined {
  return LEVELS.find((level) => level === name) ?? (Object.hasOwn(SHORT, name) ? SHORT[name] : undefined);
}

/** Whether `level` is at least as high as `least`. */
export function isAtLeastLevel(level: SwitchmanLevel, least: SwitchmanLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** Returns the nearest signalbox level. */
export function toSignalboxLevel(level: SwitchmanLevel): "debug" | "info" | "warn" | "error" {
  if (level === "debug" || level === "info") return level;
  return level === "notice" || level === "warning" ? "warn" : "error";
}
