import { dirname, resolve } from "node:path";
import { ConfigError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/parse-json.ts";
import { clean, type ParseResult } from "../../../base/text.ts";
import { type FileReader, readFileWithMode } from "../../../config/files.ts";
import { HOOK_NAMES, type Hook, type HookName } from "../../../schedule/definition.ts";
import type { JsonFields } from "../../../schedule/json-fields.ts";
import { type DocumentPath, quoteValue, SourceDocument } from "./source-document.ts";
import { HANDLER_KEYS, IGNORED_KEYS, WORKER_FILE_KEYS } from "./worker-keys.ts";
import {
  parseCommandValue,
  parseCountValue,
  parseDurationValue,
  parseEnvValue,
  parseFlagValue,
  parseHookValue,
  parseModuleValue,
  parseSecondsValue,
  parseTextOrNumber,
  parseTextsValue,
  parseTextValue,
  parseTypeValue,
} from "./worker-values.ts";

/** A handler for tasks of a type: either a command or a module. Durations in ms. */
export interface HandlerSpec {
  /** Exact, or a `/regular expression/`. */
  type: string;
  command?: readonly string[];
  /** Path of the module. */
  module?: string;
  export?: string;
  env?: Readonly<Record<string, string>>;
  timeout?: number;
  retryWait?: number;
}

/** The contents of a worker's file. */
export interface WorkerFile {
  /** In order of precedence: the first handler whose type matches runs the task. */
  handlers: readonly HandlerSpec[];
  /** Whether the worker runs schedules with a command in their definition. */
  commands: boolean;
  concurrency?: number;
  tags: readonly string[];
  /** In ms. */
  retryWait?: number;
  /** Same format as `--metrics`. */
  metrics?: string;
  hooks?: Readonly<Partial<Record<HookName, Hook>>>;
  /** Warnings about keys that have no effect here. */
  warnings: readonly string[];
}

/** A worker without a file runs only schedules with a command in their definition. */
export const NO_FILE: WorkerFile = { handlers: [], commands: true, tags: [], warnings: [] };

/** Options for reading a worker's file. */
interface ReadWorkerFileOptions {
  /** The environment to select in the file; default `production`. */
  environment?: string | undefined;
  /** Keys that the caller has already read: they cause no warning. */
  keysRead?: readonly string[] | undefined;
  read?: FileReader;
}

/** The environment to use when the file is keyed by environment. */
const DEFAULT_ENVIRONMENT = "production";
/** Size limit of a file, in characters; a file written by hand is smaller. */
const LONGEST_FILE = 1024 * 1024;

/**
 * Reads a worker's file: YAML or JSON, with the values at the top or keyed by environment.
 * @throws ConfigError naming the file, the line, the value received and what to do
 */
export function readWorkerFile(
  file: string,
  { environment, keysRead = [], read = readFileWithMode }: ReadWorkerFileOptions = {},
): WorkerFile {
  const sheet = new SourceDocument(file, readText(file, read));
  const [path, value] = selectEnvironment(sheet, environment);
  const { handlers = [], ...rest } = sheet.parseFields(path, value ?? {}, WORKER_FILE_KEYS);
  if (!Array.isArray(handlers))
    throw sheet.createError([...path, "handlers"], `${quoteValue(handlers)} is not a list`);
  const get = <T>(key: string, parse: (value: unknown) => ParseResult<T>) =>
    parseField(sheet, path, rest, key, parse);
  const retryWait = get("retryWait", parseDurationValue) ?? get("retry_wait", parseSecondsValue);
  const hooks = parseHooks(sheet, [...path, "hooks"], rest.hooks);
  const base = dirname(resolve(file));
  return {
    handlers: handlers.map((one, index) => parseHandler(sheet, [...path, "handlers", index], one, base)),
    commands: get("commands", parseFlagValue) ?? true,
    tags: get("tags", parseTextsValue) ?? [],
    ...omitUndefined({
      concurrency: get("concurrency", parseCountValue),
      metrics: get("metrics", parseTextOrNumber),
      retryWait,
      hooks,
    }),
    warnings: Object.keys(rest).flatMap((key) => {
      const why = keysRead.includes(key) ? undefined : IGNORED_KEYS[key];
      return why === undefined ? [] : [`${clean(file)}: ${key} has no effect here: ${why}`];
    }),
  };
}

/** Returns the names of the environments in a worker's file; undefined when there are none. @throws ConfigError */
export function readEnvironments(file: string): readonly string[] | undefined {
  const { value } = new SourceDocument(file, readText(file, readFileWithMode));
  return isJsonObject(value) ? findEnvironmentNames(value) : undefined;
}

function readText(file: string, read: FileReader): string {
  let found: ReturnType<FileReader>;
  try {
    found = read(file);
  } catch (cause) {
    throw new ConfigError(`${clean(file)} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (found === undefined)
    throw new ConfigError(`${clean(file)} does not exist; it was named with --handlers`);
  if ((found.mode & 0o002) !== 0)
    throw new ConfigError(
      `${clean(file)} says what is run, but every user can change it; run: chmod o-w ${clean(file)}`,
    );
  if (found.text.length > LONGEST_FILE) throw new ConfigError(`${clean(file)} is larger than 1 MiB`);
  return found.text;
}

/** Returns the part of the file to use and its path: the whole file, or one environment. */
function selectEnvironment(sheet: SourceDocument, environment: string | undefined): [DocumentPath, unknown] {
  const { value } = sheet;
  if (!isJsonObject(value)) {
    if (value === null || value === undefined) return [[], {}];
    throw sheet.createError([], `${quoteValue(value)} is not an object with "handlers"`);
  }
  const names = findEnvironmentNames(value);
  if (names === undefined) {
    if (environment === undefined) return [[], value];
    throw sheet.createError(
      [],
      `it has no environments at its top level, but ${quoteValue(environment)} was requested`,
    );
  }
  const name = environment ?? DEFAULT_ENVIRONMENT;
  if (Object.hasOwn(value, name)) return [[name], value[name]];
  throw sheet.createError(
    [],
    `it has no environment ${quoteValue(name)}; there are: ${clean(names.join(", "), 200)}`,
  );
}

/** Returns undefined when the file is not keyed by environment. */
function findEnvironmentNames(value: JsonFields): readonly string[] | undefined {
  const names = Object.keys(value);
  const areEnvironments = names.every(
    (name) => !WORKER_FILE_KEYS.includes(name) && isJsonObject(value[name]),
  );
  return names.length > 0 && areEnvironments ? names : undefined;
}

function parseHandler(sheet: SourceDocument, path: DocumentPath, value: unknown, base: string): HandlerSpec {
  const fields = sheet.parseFields(path, value, HANDLER_KEYS);
  const get = <T>(key: string, parse: (value: unknown) => ParseResult<T>) =>
    parseField(sheet, path, fields, key, parse);
  const type = get("type", parseTypeValue);
  if (type === undefined) throw sheet.createError(path, 'it has no type; write one, or "/./" for every type');
  const command = get("command", parseCommandValue);
  const module = get("module", (given) => parseModuleValue(given, base));
  if ((command === undefined) === (module === undefined))
    throw sheet.createError(path, "it needs either a command or a module, not both");
  if (command !== undefined && fields.export !== undefined)
    throw sheet.createError([...path, "export"], "only a module can have an export");
  const more = { export: get("export", parseTextValue), env: get("env", parseEnvValue) };
  const times = {
    timeout: get("timeout", parseDurationValue),
    retryWait: get("retryWait", parseDurationValue),
  };
  return { type, ...omitUndefined({ command, module, ...more, ...times }) };
}

function parseField<T>(
  sheet: SourceDocument,
  path: DocumentPath,
  fields: Readonly<Record<string, unknown>>,
  key: string,
  parse: (value: unknown) => ParseResult<T>,
): T | undefined {
  if (fields[key] === undefined || fields[key] === null) return undefined;
  const parsed = parse(fields[key]);
  if ("fault" in parsed) throw sheet.createError([...path, key], parsed.fault);
  return parsed.value;
}

function parseHooks(sheet: SourceDocument, path: DocumentPath, value: unknown): WorkerFile["hooks"] {
  if (value === undefined || value === null) return undefined;
  const fields = sheet.parseFields(path, value, HOOK_NAMES);
  const hooks: Partial<Record<HookName, Hook>> = {};
  for (const name of HOOK_NAMES) {
    const hook = parseField(sheet, path, fields, name, parseHookValue);
    if (hook !== undefined) hooks[name] = hook;
  }
  return hooks;
}

function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
