import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type * as v from "valibot";
import { ConfigError, describeFileError } from "../../core/base/errors.ts";
import { isJsonObject } from "../../core/base/parse-json.ts";
import { applySchema } from "../../core/base/schema.ts";
import { clean, quoteValue } from "../../core/base/text.ts";
import { type FileReader, readFileWithMode } from "../../core/config/files.ts";
import { type DocumentPath, SourceDocument } from "../../core/config/source-document.ts";
import type { JsonFields } from "../../schedule/json-fields.ts";
import type { HttpSpec } from "./http-schema.ts";
import { IGNORED_KEYS } from "./schema-parts.ts";
import type { SecretSpec } from "./secret-schema.ts";
import { type HandlerSpec, WORKER_FILE, WORKER_FILE_KEYS } from "./worker-schema.ts";

export interface WorkerFile extends Readonly<v.InferOutput<typeof WORKER_FILE>> {
  /** Warnings about keys that have no effect here. */
  warnings: readonly string[];
}

/** A worker without a file runs only schedules with a command in their definition. */
export const NO_FILE: WorkerFile = { handlers: [], commands: true, secrets: {}, tags: [], warnings: [] };

interface ReadWorkerFileOptions {
  /** The environment to select in the file; default `production`. */
  environment?: string | undefined;
  /** Keys that the caller has already read: they cause no warning. */
  keysRead?: readonly string[] | undefined;
  /** The folder of the credentials that systemd gives to the worker. */
  credentials?: string | undefined;
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
  { environment, keysRead = [], credentials, read = readFileWithMode }: ReadWorkerFileOptions = {},
): WorkerFile {
  const sheet = new SourceDocument(file, readText(file, read));
  const [path, value] = selectEnvironment(sheet, environment);
  const content = applySchema(WORKER_FILE, value ?? {});
  if ("fault" in content) throw sheet.createError([...path, ...content.fault.path], content.fault.what);
  const base = dirname(resolve(file));
  const { handlers, secrets } = content.value;
  const createResolver =
    (...at: DocumentPath): SecretResolver =>
    (secret, name) => {
      if (secret.file !== undefined) return { ...secret, file: resolve(base, secret.file) };
      if (credentials !== undefined) return { ...secret, file: join(credentials, secret.credential ?? "") };
      throw sheet.createError([...path, ...at, name], NO_CREDENTIALS);
    };
  return {
    ...content.value,
    secrets: mapValues(secrets, createResolver("secrets")),
    handlers: handlers.map((handler, index) =>
      resolvePaths(handler, base, createResolver("handlers", index, "http", "secretHeaders"), (fault) =>
        sheet.createError([...path, "handlers", index, "module"], fault),
      ),
    ),
    warnings: Object.keys(value ?? {}).flatMap((key) => {
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
    throw new ConfigError(`${clean(file)} cannot be read: ${describeFileError(cause)}`, { cause });
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

/** Resolves the paths of a handler's module and secrets, which are relative to the file. */
function resolvePaths(
  handler: HandlerSpec,
  base: string,
  resolveSecret: SecretResolver,
  createError: (fault: string) => ConfigError,
): HandlerSpec {
  if (handler.http !== undefined)
    return { ...handler, http: resolveFiles(handler.http, base, resolveSecret) };
  if (handler.module === undefined) return handler;
  const path = resolve(base, handler.module);
  if (!existsSync(path)) throw createError(`${quoteValue(handler.module)} does not exist: ${clean(path)}`);
  return { ...handler, module: path };
}

function resolveFiles(http: HttpSpec, base: string, resolveSecret: SecretResolver): HttpSpec {
  const pem = (["cacert", "cert", "key"] as const).flatMap((name) => {
    const path = http[name];
    return path === undefined ? [] : [[name, resolve(base, path)]];
  });
  return { ...http, ...Object.fromEntries(pem), secretHeaders: mapValues(http.secretHeaders, resolveSecret) };
}

type SecretResolver = (secret: SecretSpec, name: string) => SecretSpec;

const NO_CREDENTIALS =
  "the worker has no credentials of systemd: add LoadCredential= to its unit, or name a file instead of a credential";

function mapValues<T>(values: Readonly<Record<string, T>>, change: (value: T, name: string) => T) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
