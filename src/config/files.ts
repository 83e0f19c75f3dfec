import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { jsonFault } from "../base/json.ts";
import { clean } from "../base/text.ts";

/** A file as it was read. */
export interface FileText {
  text: string;
  /** Permission bits. */
  mode: number;
  /** Owner. */
  uid: number;
}

/** Reads a file; undefined when there is none. Throws when it cannot be read. */
export type ReadFile = (path: string) => FileText | undefined;

export type Env = Readonly<Record<string, string | undefined>>;

/** A configuration file: a JSON object with settings. */
export interface ConfigFile {
  path: string;
  settings: Readonly<Record<string, unknown>>;
}

/** Mode and text are those of one open file: between two looks at a path it could be replaced. */
export const readFile: ReadFile = (path) => {
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
 * The configuration files, the strongest first.
 * @param named  a file that was asked for; it must exist, and no other is read
 * @throws ConfigError naming the file, and the place where it is no JSON
 */
export function configFiles(named: string | undefined, env: Env, read: ReadFile): ConfigFile[] {
  if (named !== undefined) {
    const path = resolve(named);
    const file = load(path, read);
    if (file === undefined)
      throw new ConfigError(`${clean(path)} does not exist; it was named as the configuration file`);
    return [file];
  }
  return candidates(env).flatMap((path) => load(path, read) ?? []);
}

/** XDG base directories: a relative one is to be ignored. Cron sets HOME, other starters may not. */
function candidates(env: Env): string[] {
  const { XDG_CONFIG_HOME: xdg = "", HOME: home = "" } = env;
  const user = isAbsolute(xdg) ? xdg : isAbsolute(home) ? join(home, ".config") : undefined;
  const system = "/etc/signalbox/config.json";
  return user === undefined ? [system] : [join(user, "signalbox/config.json"), system];
}

function load(path: string, read: ReadFile): ConfigFile | undefined {
  const file = readable(path, read);
  if (file === undefined) return undefined;
  const settings = parse(path, file.text.replace(/^\ufeff/, ""));
  if (Object.hasOwn(settings, "password")) checkPrivate(path, file);
  return { path, settings };
}

function readable(path: string, read: ReadFile): FileText | undefined {
  try {
    return read(path);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`${clean(path)} cannot be read (${code})`, { cause });
  }
}

function parse(path: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not with the parser's own message as the cause: it quotes the text, which may hold a password.
    const { line, column, what } = jsonFault(text) ?? { line: 1, column: 1, what: "it cannot be parsed" };
    throw new ConfigError(`${clean(path)} is not JSON: line ${line}, column ${column}: ${what}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError(`${clean(path)} must hold a JSON object, such as {"ttl": "30s"}`);
}

function checkPrivate(path: string, { mode, uid }: FileText): void {
  const own = process.getuid?.() ?? uid;
  if (uid !== own && uid !== 0) {
    throw new ConfigError(
      `${clean(path)} holds a password and belongs to user ${uid}, neither to root nor to this user (${own})`,
    );
  }
  if ((mode & 0o077) !== 0) {
    const bits = mode.toString(8).padStart(4, "0");
    throw new ConfigError(
      `${clean(path)} holds a password, and others can get at it (mode ${bits}); run: chmod 600 ${path}`,
    );
  }
}

/** The password in a file of its own, without the line break at its end. @throws ConfigError */
export function readPassword(path: string, read: ReadFile): string {
  const file = readable(path, read);
  if (file === undefined)
    throw new ConfigError(`${clean(path)} does not exist; it was named as passwordFile`);
  checkPrivate(path, file);
  const password = file.text.replace(/\r?\n$/, "");
  if (password === "" || /[\0\r\n]/.test(password)) {
    throw new ConfigError(`${clean(path)} must hold one line, the password`);
  }
  return password;
}

/** A path from a configuration file: a relative one starts at that file. */
export function pathBeside(file: string, path: string): string {
  return resolve(dirname(file), path);
}
