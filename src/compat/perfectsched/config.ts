import { dirname, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean, nearest, quoted } from "../../base/text.ts";
import { Sheet, shown } from "../../commands/schedule/sheets.ts";
import { type Call, CONNECTION } from "../../commands/spec.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env, FileText } from "../../config/files.ts";
import { type SettingKey, settingOf } from "../../config/settings.ts";
import { readPlainFile } from "../plain-file.ts";

/** What the part of one environment says. */
export interface Setup {
  /** Where etcd is, as flags of our commands would have it. */
  settings: Call["settings"];
  /** Of schedules that are added without one. */
  timezone: string | undefined;
  /** A path. */
  log: string | undefined;
  /** `inline`: the file holds them itself. */
  handlers: { file: string } | "inline" | undefined;
  /** Before another start of a task that asked for one, ms. */
  retryWait: number | undefined;
  /** Keys that were read here. */
  keys: readonly string[];
  /** What is to be said about it. */
  notes: readonly string[];
}

/** Keys of the original that say where its table is. */
const BACKEND = ["type", "url", "table", "sslca"] as const;
const OWN = [...BACKEND, "timezone", "log", "handlers", "retry_wait", ...CONNECTION] as const;
/** What workers do otherwise; they say so themselves where the file is theirs. */
const WORKERS = ["poll_interval", "alive_time", "max_acquire"] as const;
/** What the file may hold for a worker. */
const MORE = ["concurrency", "tags", "retryWait", "metrics", "hooks", "commands"] as const;

/**
 * Reads a configuration keyed by environment.
 * @param env  our own variables: where they or our configuration name etcd, the file need not
 * @throws ConfigError naming file, line and key
 */
export function readSetup(file: string, environment: string, env: Env): Setup {
  const sheet = new Sheet(file, textOf(file));
  const fields = fieldsOf(sheet, file, environment);
  const path = (key: string) => [environment, key];
  const text = (key: string): string | undefined => {
    const value = fields[key] ?? undefined;
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    throw sheet.fault(path(key), `${shown(value)} is not a text`);
  };
  const { handlers } = fields;
  const settings = settingsIn(sheet, fields, environment);
  return {
    settings,
    ...{ timezone: text("timezone"), log: text("log") },
    handlers: Array.isArray(handlers)
      ? "inline"
      : typeof handlers === "string"
        ? { file: resolve(dirname(file), text("handlers") ?? "") }
        : undefined,
    retryWait: retryWaitIn(sheet, fields, environment),
    keys: OWN,
    notes: [
      ...backendNotes(sheet, fields, environment, { settings, env }),
      ...strayNotes(file, fields, environment),
    ],
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(file: string): string {
  let found: FileText | undefined;
  try {
    found = readPlainFile(file);
  } catch (cause) {
    throw new ConfigError(`${clean(file)} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (found === undefined)
    throw new ConfigError(`${clean(file)} does not exist; name the configuration with -c`);
  return found.text;
}

function fieldsOf(sheet: Sheet, file: string, environment: string): Fields {
  const { value } = sheet;
  const part = isFields(value) && Object.hasOwn(value, environment) ? value[environment] : undefined;
  if (isFields(part)) return part;
  if (part !== undefined && part !== null)
    throw sheet.fault([environment], `${shown(part)} is not a list of keys and values`);
  const names = isFields(value) ? Object.keys(value).filter((name) => isFields(value[name])) : [];
  const there = names.length === 0 ? "it has none" : `there are: ${clean(names.join(", "), 200)}`;
  throw new ConfigError(
    `${clean(file)} has no configuration for the environment ${quoted(environment)} (-e, or RAILS_ENV); ${there}`,
  );
}

function retryWaitIn(sheet: Sheet, { retry_wait: value }: Fields, environment: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value >= 0 && value < 1e8) return Math.round(value * 1000);
  throw sheet.fault([environment, "retry_wait"], `${shown(value)} is not a number of seconds`);
}

/** What is checked here names its line; our commands would call it a flag. */
function settingsIn(sheet: Sheet, fields: Fields, environment: string): Call["settings"] {
  const settings: Partial<Record<SettingKey, string | boolean | readonly string[]>> = {};
  for (const key of CONNECTION) {
    const value = fields[key] ?? undefined;
    if (value === undefined) continue;
    const { kind } = settingOf(key);
    const parsed = kind.parse(value);
    if ("fault" in parsed) throw sheet.fault([environment, key], parsed.fault);
    settings[key] =
      kind.isPath === true && typeof value === "string"
        ? resolve(dirname(sheet.file), value)
        : (value as string | boolean | readonly string[]);
  }
  return settings;
}

/** @throws ConfigError where only a database is named */
function backendNotes(
  sheet: Sheet,
  { type, url }: Fields,
  environment: string,
  { settings, env }: { settings: Call["settings"]; env: Env },
): string[] {
  if (settings.endpoints !== undefined || type === "etcd") return [];
  const { sources, values } = resolveConfig({ env });
  const key = url === undefined || url === null ? "type" : "url";
  const isDatabase = (type ?? url ?? undefined) !== undefined;
  if (sources.endpoints !== "default")
    return isDatabase
      ? [
          `${clean(sheet.file)}: ${environment}: its ${key} names a database, which is not asked: schedules are in etcd at ` +
            `${values.endpoints.join(", ")} (${sources.endpoints})`,
        ]
      : [];
  throw sheet.fault(
    isDatabase ? [environment, key] : [environment],
    `${isDatabase ? "it names a database, and schedules are in etcd here" : "it does not say where etcd is"}` +
      '; add endpoints: ["http://HOST:2379"], or put type: etcd for the one on this host. What the table holds is' +
      " moved with: signalbox import perfectsched FILE",
  );
}

/** The original passes over keys it does not know, and so does this, unless one is nearly right. */
function strayNotes(file: string, fields: Fields, environment: string): string[] {
  const known = [...OWN, ...WORKERS, ...MORE];
  return Object.keys(fields).flatMap((key) => {
    const meant = (known as readonly string[]).includes(key) ? undefined : nearest(key, known);
    if (meant === undefined) return [];
    return [`${clean(file)}: ${environment}: ${quoted(key)} is not known; did you mean ${meant}?`];
  });
}
