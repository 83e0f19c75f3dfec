import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { ConfigError, describeFileError } from "../base/errors.ts";
import { findJsonFault, type JsonParser } from "../base/json-fault.ts";
import { isJsonObject } from "../base/parse-json.ts";
import { clean } from "../base/text.ts";

export interface FileContent {
  text: string;
  /** Permission bits. */
  mode: number;
  /** Owner. */
  uid: number;
}

/** Reads a file. Returns undefined if it does not exist. Throws if it cannot be read. */
export type FileReader = (path: string) => FileContent | undefined;

export type Env = Readonly<Record<string, string | undefined>>;

/** A configuration file: a JSON object with settings. */
export interface ConfigFile {
  path: string;
  settings: Readonly<Record<string, unknown>>;
}

/**
 * Reads mode, owner and text from one open file descriptor, because the file at a path could be replaced between two
 * calls.
 */
export const readFileWithMode: FileReader = (path) => {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  try {
    const { mode, uid } = fstatSync(fd);
    return { mode: mode & 0o7777, uid, text: readFileSync(fd, "utf8") };
  } finally {
    closeSync(fd);
  }
};

/**
 * Reads the configuration files, highest priority first.
 * @param named  the file that the user named; it must exist, and no other file is read
 * @throws ConfigError that names the file, and the position if the file is not JSON
 */
export function readConfigFiles(
  named: string | undefined,
  env: Env,
  read: FileReader = readFileWithMode,
): ConfigFile[] {
  if (named !== undefined) {
    const path = resolve(named);
    const file = loadConfigFile(path, read);
    if (file === undefined)
      throw new ConfigError(`${clean(path)} does not exist; it was named as the configuration file`);
    return [file];
  }
  return listConfigPaths(env).flatMap((path) => loadConfigFile(path, read) ?? []);
}

/**
 * Finds a base directory of the user. By the XDG specification, a relative one is ignored. Cron sets HOME, but other
 * programs that start signalbox may not.
 * @param fallback  the default, below the home
 * @returns undefined without a home
 */
export function findBaseDirectory(
  env: Env,
  name: "XDG_CONFIG_HOME" | "XDG_STATE_HOME",
  fallback: string,
): string | undefined {
  const { [name]: given = "", HOME: home = "" } = env;
  if (isAbsolute(given)) return given;
  return isAbsolute(home) ? join(home, fallback) : undefined;
}

function listConfigPaths(env: Env): string[] {
  const user = findBaseDirectory(env, "XDG_CONFIG_HOME", ".config");
  const system = "/etc/signalbox/config.json";
  return user === undefined ? [system] : [join(user, "signalbox/config.json"), system];
}

function loadConfigFile(path: string, read: FileReader): ConfigFile | undefined {
  const file = readOrThrow(path, read);
  if (file === undefined) return undefined;
  const text = file.text.replace(/^\ufeff/, "");
  const settings = parseConfigObject(clean(path), text, '{"ttl": "30s"}');
  if (hasPassword(settings)) checkPrivate(path, file);
  return { path, settings };
}

/** Whether the file has a password, for all clusters or in one of its contexts. */
function hasPassword({ contexts, ...settings }: Readonly<Record<string, unknown>>): boolean {
  const all = isJsonObject(contexts) ? [settings, ...Object.values(contexts)] : [settings];
  return all.some((one) => isJsonObject(one) && Object.hasOwn(one, "password"));
}

/** @throws ConfigError if the file cannot be read */
export function readOrThrow(path: string, read: FileReader): FileContent | undefined {
  try {
    return read(path);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`${clean(path)} cannot be read (${code})`, { cause });
  }
}

function checkPrivate(path: string, { mode, uid }: FileContent): void {
  const own = process.getuid?.() ?? uid;
  if (uid !== own && uid !== 0) {
    throw new ConfigError(
      `${clean(path)} contains a password, but belongs to user ${uid}; it must belong to root or to this user (${own})`,
    );
  }
  if ((mode & 0o077) !== 0) {
    const bits = mode.toString(8).padStart(4, "0");
    throw new ConfigError(
      `${clean(path)} contains a password, but other users have access to it (mode ${bits}); run: chmod 600 ${path}`,
    );
  }
}

/** Reads the password from its own file, without the line break at the end. @throws ConfigError */
export function readPassword(path: string, read: FileReader): string {
  return readSecretLine(path, read, { named: "as passwordFile", what: "the password" });
}

interface SecretFileOptions {
  /** Where the file was named, for messages. */
  named: string;
  /** What it contains, for messages. */
  what: string;
  /** Somebody else, such as systemd, ensures that only this process can read it. */
  isGuarded?: boolean;
}

/**
 * Reads a secret from its own file.
 * @throws ConfigError when the file is missing, readable by other users, or empty
 */
export function readSecretText(
  path: string,
  read: FileReader,
  { named, what, isGuarded }: SecretFileOptions,
): string {
  const file = readOrThrow(path, read);
  if (file === undefined) throw new ConfigError(`${clean(path)} does not exist; it was named ${named}`);
  if (!isGuarded) checkPrivate(path, file);
  if (file.text === "") throw new ConfigError(`${clean(path)} is empty; it must contain ${what}`);
  return file.text;
}

/**
 * Reads a secret from its own file, without the line break at the end.
 * @throws ConfigError when the file is missing, readable by other users, or not one line
 */
export function readSecretLine(path: string, read: FileReader, options: SecretFileOptions): string {
  const secret = readSecretText(path, read, options).replace(/\r?\n$/, "");
  if (secret === "" || /[\0\r\n]/.test(secret))
    throw new ConfigError(`${clean(path)} must contain one line, ${options.what}`);
  return secret;
}

/**
 * Reads a file with a certificate or a private key.
 * @param named  where the file was named; `key`: a private key, which others must not be able to read. The group may, so
 *   that services can share a key
 * @throws ConfigError
 */
export function readPemFile(named: "cacert" | "cert" | "key", path: string): string {
  if (named === "key" && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0)
    throw new ConfigError(`key: ${path} can be read by everybody; run: chmod o= ${path}`);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`${named}: ${path} cannot be read: ${describeFileError(cause)}`, { cause });
  }
  const what = named === "key" ? "PRIVATE KEY" : "CERTIFICATE";
  if (text.includes(`${what}-----`)) return text;
  throw new ConfigError(`${named}: ${path} has no ${what.toLowerCase()} in PEM`);
}

/** Resolves a path from a configuration file. A relative path is relative to the directory of that file. */
export function resolveBeside(file: string, path: string): string {
  return resolve(dirname(file), path);
}

/**
 * Parses the JSON object of a configuration file.
 * @param file  the name of the file, for messages
 * @param example  an object that is allowed in the file
 * @throws ConfigError with the position of the first fault
 */
export function parseConfigObject(file: string, text: string, example: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without the error of JSON.parse as the cause: its message quotes the text, which may contain a password.
    const parser = loadParser();
    const fault = parser && findJsonFault(text, parser);
    const where = fault && `: line ${fault.line}, column ${fault.column}: ${fault.what}`;
    throw new ConfigError(`${file} is not JSON${where ?? ""}`);
  }
  if (isJsonObject(value)) return value;
  throw new ConfigError(`${file} must contain a JSON object, such as ${example}`);
}

/** The parser is beside the bundle; when run from source, it is a package. */
const PARSERS = ["./modules/jsonc-parser.cjs", "jsonc-parser"];

/** Loads the package that finds the position. Without it, the message has no position. */
function loadParser(): JsonParser | undefined {
  const load = createRequire(import.meta.filename);
  for (const name of PARSERS) {
    try {
      return load(name);
    } catch {} // the next one
  }
  return undefined;
}
