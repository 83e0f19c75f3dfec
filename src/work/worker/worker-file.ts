import { dirname, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean, type Parsed } from "../../base/text.ts";
import { type ReadFile, readFile } from "../../config/files.ts";
import { HOOKS, type Hook, type HookName } from "../../schedule/definition.ts";
import { type Fields, isFields } from "../../schedule/fields.ts";
import { type Path, Sheet, shown } from "./sheet.ts";
import { HANDLER_KEYS, KEYS, OTHER_KEYS } from "./worker-keys.ts";
import {
  commandOf,
  countOf,
  durationOf,
  envOf,
  flagOf,
  hookOf,
  moduleOf,
  secondsOf,
  textOrNumber,
  textsOf,
  textValue,
  typeText,
} from "./worker-values.ts";

/** What runs tasks of a type: either a command or a module. Durations in ms. */
export interface HandlerSpec {
  /** Exact, or a `/regular expression/`. */
  type: string;
  command?: readonly string[];
  /** A path. */
  module?: string;
  export?: string;
  env?: Readonly<Record<string, string>>;
  timeout?: number;
  retryWait?: number;
}

/** What a worker's file says. */
export interface WorkerFile {
  /** In the order in which they are asked: the first that matches is it. */
  handlers: readonly HandlerSpec[];
  /** Whether schedules that have a command of their own are run. */
  commands: boolean;
  concurrency?: number;
  tags: readonly string[];
  /** ms. */
  retryWait?: number;
  /** As `--metrics`. */
  metrics?: string;
  hooks?: Readonly<Partial<Record<HookName, Hook>>>;
  /** What is in it and means nothing here. */
  warnings: readonly string[];
}

/** A worker without a file runs what has a command of its own. */
export const NO_FILE: WorkerFile = { handlers: [], commands: true, tags: [], warnings: [] };

/** How a worker's file is read. */
export interface Reading {
  /** Which of its environments; default `production`. */
  environment?: string | undefined;
  /** Keys that whoever starts the worker has read already: no word about them. */
  keysRead?: readonly string[] | undefined;
  read?: ReadFile;
}

/** What a file says where environments stand at its top. */
const DEFAULT_ENVIRONMENT = "production";
/** Nobody writes more by hand. */
const LONGEST_FILE = 1024 * 1024;

/**
 * Reads a worker's file: YAML or JSON, whole or keyed by environment.
 * @throws ConfigError naming the file, the line, the value received and what to do
 */
export function readWorkerFile(
  file: string,
  { environment, keysRead = [], read = readFile }: Reading = {},
): WorkerFile {
  const sheet = new Sheet(file, textOf(file, read));
  const [path, value] = chosen(sheet, environment);
  const { handlers = [], ...rest } = sheet.fields(path, value ?? {}, KEYS);
  if (!Array.isArray(handlers)) throw sheet.fault([...path, "handlers"], `${shown(handlers)} is not a list`);
  const get = <T>(key: string, parse: (value: unknown) => Parsed<T>) => field(sheet, path, rest, key, parse);
  const retryWait = get("retryWait", durationOf) ?? get("retry_wait", secondsOf);
  const hooks = hooksIn(sheet, [...path, "hooks"], rest.hooks);
  const base = dirname(resolve(file));
  return {
    handlers: handlers.map((one, index) => handlerOf(sheet, [...path, "handlers", index], one, base)),
    commands: get("commands", flagOf) ?? true,
    tags: get("tags", textsOf) ?? [],
    ...defined({
      concurrency: get("concurrency", countOf),
      metrics: get("metrics", textOrNumber),
      retryWait,
      hooks,
    }),
    warnings: Object.keys(rest).flatMap((key) => {
      const why = keysRead.includes(key) ? undefined : OTHER_KEYS[key];
      return why === undefined ? [] : [`${clean(file)}: ${key} means nothing here: ${why}`];
    }),
  };
}

/** The environments that a worker's file has at its top; undefined where it has none. @throws ConfigError */
export function environmentsOf(file: string): readonly string[] | undefined {
  const { value } = new Sheet(file, textOf(file, readFile));
  return isFields(value) ? environmentNames(value) : undefined;
}

function textOf(file: string, read: ReadFile): string {
  let found: ReturnType<ReadFile>;
  try {
    found = read(file);
  } catch (cause) {
    throw new ConfigError(`${clean(file)} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (found === undefined)
    throw new ConfigError(`${clean(file)} does not exist; it was named with --handlers`);
  if ((found.mode & 0o002) !== 0)
    throw new ConfigError(
      `${clean(file)} says what is run, and everybody can change it; run: chmod o-w ${clean(file)}`,
    );
  if (found.text.length > LONGEST_FILE) throw new ConfigError(`${clean(file)} is larger than 1 MiB`);
  return found.text;
}

/** The part that counts, and where it stands: the whole, or that of one environment. */
function chosen(sheet: Sheet, environment: string | undefined): [Path, unknown] {
  const { value } = sheet;
  if (!isFields(value)) {
    if (value === null || value === undefined) return [[], {}];
    throw sheet.fault([], `${shown(value)} is not an object with "handlers"`);
  }
  const names = environmentNames(value);
  if (names === undefined) {
    if (environment === undefined) return [[], value];
    throw sheet.fault([], `it has no environments at its top, and ${shown(environment)} was asked for`);
  }
  const name = environment ?? DEFAULT_ENVIRONMENT;
  if (Object.hasOwn(value, name)) return [[name], value[name]];
  throw sheet.fault([], `it has no environment ${shown(name)}; there are: ${clean(names.join(", "), 200)}`);
}

/** Undefined where a file is not keyed by environment. */
function environmentNames(value: Fields): readonly string[] | undefined {
  const names = Object.keys(value);
  const areEnvironments = names.every((name) => !KEYS.includes(name) && isFields(value[name]));
  return names.length > 0 && areEnvironments ? names : undefined;
}

function handlerOf(sheet: Sheet, path: Path, value: unknown, base: string): HandlerSpec {
  const fields = sheet.fields(path, value, HANDLER_KEYS);
  const get = <T>(key: string, parse: (value: unknown) => Parsed<T>) =>
    field(sheet, path, fields, key, parse);
  const type = get("type", typeText);
  if (type === undefined) throw sheet.fault(path, 'it has no type; write one, or "/./" for every type');
  const command = get("command", commandOf);
  const module = get("module", (given) => moduleOf(given, base));
  if ((command === undefined) === (module === undefined))
    throw sheet.fault(path, "it needs either a command or a module, one of both");
  if (command !== undefined && fields.export !== undefined)
    throw sheet.fault([...path, "export"], "only a module exports something");
  const more = { export: get("export", textValue), env: get("env", envOf) };
  const times = { timeout: get("timeout", durationOf), retryWait: get("retryWait", durationOf) };
  return { type, ...defined({ command, module, ...more, ...times }) };
}

function field<T>(
  sheet: Sheet,
  path: Path,
  fields: Readonly<Record<string, unknown>>,
  key: string,
  parse: (value: unknown) => Parsed<T>,
): T | undefined {
  if (fields[key] === undefined || fields[key] === null) return undefined;
  const parsed = parse(fields[key]);
  if ("fault" in parsed) throw sheet.fault([...path, key], parsed.fault);
  return parsed.value;
}

function hooksIn(sheet: Sheet, path: Path, value: unknown): WorkerFile["hooks"] {
  if (value === undefined || value === null) return undefined;
  const fields = sheet.fields(path, value, HOOKS);
  const hooks: Partial<Record<HookName, Hook>> = {};
  for (const name of HOOKS) {
    const hook = field(sheet, path, fields, name, hookOf);
    if (hook !== undefined) hooks[name] = hook;
  }
  return hooks;
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
