import { ConfigError } from "../../base/errors.ts";
import { jsonFault } from "../../base/json.ts";
import { clean, quoted } from "../../base/text.ts";
import { LEVELS, levelNamed, type SwitchmanLevel } from "./levels.ts";

/** Read where no other file is named. */
export const DEFAULT_CONFIG = "/etc/switchman.conf";

/** What a configuration file of switchman says. */
export interface SwitchmanConfig {
  path: string;
  /** Addresses of etcd, as they stand there; undefined where there are only ZooKeeper's. */
  etcdhosts: string | readonly string[] | undefined;
  /** What our keys begin with; undefined: as signalbox itself is configured. */
  etcdprefix: string | undefined;
  logfile: string | undefined;
  loglevel: SwitchmanLevel;
  /** Whole seconds; 0: for ever. */
  resourcesWaitTimeout: number;
  /** Whole seconds; undefined: as it is without. */
  terminationTimeout: number | undefined;
}

/**
 * Reads a configuration file: `prefix`, `zkhosts`, `logfile`, `loglevel`, `termination_timeout`, `resources_wait_timeout`;
 * and two keys that switchman passes over, `etcdhosts` and `etcdprefix`. `data_read_len` is about ZooKeeper alone.
 * @throws ConfigError where switchman would not start with it
 */
export function parseConfig(path: string, text: string): SwitchmanConfig {
  const where = clean(path);
  const fields = objectIn(where, text);
  const { prefix, etcdhosts, etcdprefix, logfile, loglevel } = fields;
  checkHosts(where, fields);
  if (!isThere(prefix)) throw new ConfigError(`prefix is not defined in ${where}`);
  if (typeof prefix !== "string" || !/^(?:\/[^/]+)+$/.test(prefix))
    throw wrong(where, "prefix", prefix, 'a path such as "/myproject/switchman"');
  return {
    ...{ path, etcdhosts: hostsOf(where, etcdhosts) },
    etcdprefix: textOf(where, "etcdprefix", etcdprefix),
    logfile: textOf(where, "logfile", logfile),
    loglevel: levelOf(where, loglevel),
    resourcesWaitTimeout: secondsOf(where, "resources_wait_timeout", fields) ?? 0,
    terminationTimeout: secondsOf(where, "termination_timeout", fields),
  };
}

function objectIn(where: string, text: string): Record<string, unknown> {
  const json = text.replace(/^\ufeff/, "");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    const { line, column, what } = jsonFault(json) ?? { line: 1, column: 1, what: "it cannot be parsed" };
    throw new ConfigError(`${where} is not JSON: line ${line}, column ${column}: ${what}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError(`${where} must hold a JSON object, such as {"prefix": "/myproject/switchman"}`);
}

function checkHosts(where: string, { zkhosts, etcdhosts }: Record<string, unknown>): void {
  if (!isThere(zkhosts) && !isThere(etcdhosts))
    throw new ConfigError(
      `neither zkhosts nor etcdhosts is defined in ${where}; add "etcdhosts": "etcd1:2379,etcd2:2379"`,
    );
  if (typeof zkhosts === "string" && /\/\w+/.test(zkhosts))
    throw wrong(where, "zkhosts", zkhosts, "a list of hosts without a path (switchman has prefix for that)");
}

function hostsOf(where: string, value: unknown): SwitchmanConfig["etcdhosts"] {
  if (!isThere(value)) return undefined;
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((one): one is string => typeof one === "string");
  if (isList) return value;
  // Not shown: an address may hold a password.
  throw new ConfigError(
    `bad etcdhosts in ${where}: it is neither a text such as "etcd1:2379" nor a list of such`,
  );
}

/** As Perl sees it: empty, 0 and "0" are nothing. */
function isThere(value: unknown): boolean {
  return Boolean(value) && value !== "0";
}

function textOf(where: string, key: string, value: unknown): string | undefined {
  if (!isThere(value)) return undefined;
  if (typeof value === "string") return value;
  throw wrong(where, key, value, "a text");
}

function levelOf(where: string, value: unknown): SwitchmanLevel {
  const level = isThere(value) ? levelNamed(String(value)) : "info";
  if (level === undefined) throw wrong(where, "loglevel", value, `one of ${LEVELS.join(", ")}`);
  return level;
}

function secondsOf(where: string, key: string, fields: Record<string, unknown>): number | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === "string" || typeof value === "number";
  if (isNumber && /^\d{1,9}$/.test(String(value))) return Number(value);
  throw wrong(where, key, value, "a whole number of seconds");
}

function wrong(where: string, key: string, value: unknown, wanted: string): ConfigError {
  const shown = typeof value === "string" ? quoted(value) : clean(JSON.stringify(value) ?? "nothing", 60);
  return new ConfigError(`bad ${key} in ${where}: ${shown} is not ${wanted}`);
}
