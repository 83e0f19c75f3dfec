import { createHash } from "node:crypto";
import { formatDuration, type Millis } from "../../core/base/clock.ts";
import { ConfigError, UsageError } from "../../core/base/errors.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { clean, collectTexts, quoteText } from "../../core/base/text.ts";
import { getEnvVariableName, getFlagName, SETTINGS, type SettingKey } from "../../core/config/settings.ts";
import type { LineTranslator, ToolFiles } from "../front-end.ts";
import { CRONLOCK_CODES } from "./cronlock.ts";
import {
  type CronlockTool,
  parseShellFile,
  type ShellFile,
  type SourcedValue,
  SYSTEM_FILE,
  ToolVariables,
} from "./variables.ts";

/** The options of a cronlock or golock line. Times in seconds. */
export interface CronlockOptions {
  tool: CronlockTool;
  lock: string;
  /** As written, for messages. */
  words: readonly string[];
  /** What is run: bash, for one of its builtins. */
  command: readonly string[];
  /** Minimum time for which the lock is held. */
  grace: Millis;
  /** Maximum time for which the lock is held. */
  release: number;
  /** 0: no timeout. */
  timeout: Millis;
  /** How long etcd may be unreachable at the start. */
  connectTimeout: Millis;
  /** Undefined if the signalbox configuration names the endpoints. */
  endpoints: SourcedValue | undefined;
  usesTls: boolean;
  skipsVerification: boolean;
  login: CronlockLogin | undefined;
  database: number;
  /** Resets the lock and runs nothing. */
  isReset: boolean;
  /** golock writes the lock's name before it takes the lock. */
  showsKey: boolean;
  /** Options of `signalbox run` that the tools themselves do not have. */
  runOptions: readonly string[];
  /** One sentence for each option without effect. */
  notes: readonly string[];
  /** Where a variable was set, for error messages. */
  getSource(name: string): string;
}

/** The longest time that settings accept, in seconds. It stands for no limit. */
const TEN_YEARS = 3_650 * 86_400;

/**
 * Parses a line of one of the tools and its variables.
 * @throws ConfigError for an invalid value, and for features of Redis
 */
export function parseCronlockOptions(
  tool: CronlockTool,
  words: readonly string[],
  variables: ToolVariables,
): CronlockOptions {
  refuseUnsupported(variables);
  const usesTls = variables.getBoolean("CRONLOCK_TLS");
  const timeout = Math.min(variables.getCount("CRONLOCK_TIMEOUT", 0), TEN_YEARS);
  return {
    tool,
    lock: computeLockName(tool, words, variables),
    words,
    // With a timeout, cronlock starts the command through timeout(1), which knows no builtins.
    command: tool === "cronlock" && timeout === 0 ? wrapBuiltin(words) : words,
    grace: variables.getCount("CRONLOCK_GRACE", 40, { most: TEN_YEARS }),
    // At 0 the lock would be free within the second in which it was taken.
    release: Math.min(Math.max(variables.getCount("CRONLOCK_RELEASE", 86_400), 1), TEN_YEARS),
    timeout,
    connectTimeout: computeConnectTimeout(tool, variables),
    endpoints: parseCronlockAddresses(variables, usesTls),
    usesTls,
    skipsVerification: variables.getBoolean("CRONLOCK_TLS_SKIP_VERIFY"),
    login: parseCronlockLogin(tool, variables),
    database: variables.getCount("CRONLOCK_DB", 0),
    isReset: variables.isExplicitYes("CRONLOCK_RESET"), // a user who writes `true` does not want the command to run
    showsKey: tool === "golock" && variables.getBoolean("CRONLOCK_SHOW_KEY"),
    runOptions: listRunOptions(variables),
    notes: variables.isYes("CRONLOCK_NTPDATE")
      ? [
          "CRONLOCK_NTPDATE is ignored: the lock does not depend on this host's clock; set the clock with chrony or ntpd",
        ]
      : [],
    getSource: (name) => variables.get(name)?.source ?? `default of ${name}`,
  };
}

/** Lists the options of `signalbox run` that variables set. Times are in seconds, as those of the tools. */
function listRunOptions(variables: ToolVariables): string[] {
  const listSeconds = (name: string, flag: string) =>
    variables.getText(name) !== undefined
      ? [flag, `${variables.getCount(name, 0, { most: TEN_YEARS })}s`]
      : [];
  const listText = (name: string, flag: string) => {
    const text = variables.getText(name);
    return text === undefined ? [] : [flag, text];
  };
  return [
    ...listText("CRONLOCK_RETRIES", "--retries"),
    ...listSeconds("CRONLOCK_RETRY_WAIT", "--retry-wait"),
    ...listSeconds("CRONLOCK_JITTER", "--jitter"),
    ...(variables.getBoolean("CRONLOCK_QUIET_SUCCESS") ? ["--quiet-success"] : []),
    ...listText("CRONLOCK_PING", "--ping"),
    ...listText("CRONLOCK_ON_FAILURE", "--on-failure"),
    ...listText("CRONLOCK_ON_SUCCESS", "--on-success"),
  ];
}

/**
 * Computes the lock name. Both tools use "cronlock." with a dot, unlike their documentation. golock accepts an empty
 * prefix.
 */
function computeLockName(tool: CronlockTool, words: readonly string[], variables: ToolVariables): string {
  const key = variables.getText("CRONLOCK_KEY") ?? computeArgumentsHash(tool, words);
  const isBare = tool === "golock" && variables.isSet("CRONLOCK_PREFIX");
  return `${variables.getText("CRONLOCK_PREFIX") ?? (isBare ? "" : "cronlock.")}${key}`;
}

/**
 * Computes how long the tool would have tried to connect, in seconds: cronlock increases the pause after each
 * attempt, golock does not.
 */
function computeConnectTimeout(tool: CronlockTool, variables: ToolVariables): number {
  const old = variables.getCount("CRONLOCK_READ_TIMEOUT", 30); // the name in cronlock's documentation
  const answer = variables.getCount("CRONLOCK_REDIS_TIMEOUT", old);
  const attempts = variables.getCount("CRONLOCK_RECONNECT_ATTEMPTS", 5);
  const backoff = variables.getCount("CRONLOCK_RECONNECT_BACKOFF", 5);
  const pauses = tool === "golock" ? attempts : (attempts * (attempts - 1)) / 2;
  return Math.min(Math.max(answer, backoff * pauses), TEN_YEARS);
}

/** Refuses features that only Redis has, and settings that would run a job on the wrong host. @throws ConfigError */
function refuseUnsupported(variables: ToolVariables): void {
  const sentinel = variables.get("CRONLOCK_USE_SENTINEL");
  if (sentinel?.value === "yes")
    throw new ConfigError(
      `${sentinel.source}: Sentinel belongs to Redis and etcd needs none: remove it, and name ` +
        "several of them in CRONLOCK_HOST, with commas between",
    );
  const address = variables.get("CRONLOCK_LOCAL_VIP");
  if (address !== undefined)
    throw new ConfigError(
      `${address.source}: signalbox does not bind jobs to an address; put the hosts that may run them into a group ` +
        "(signalbox group set), and set SIGNALBOX_GROUP to it",
    );
}

/** The login for etcd. Without a user, the one of the signalbox configuration is used. */
interface CronlockLogin {
  user?: string;
  password: string;
  source: string;
}

/** Variables with credentials, which no command needs. */
export const CREDENTIALS = ["CRONLOCK_AUTH", "CRONLOCK_USER", "CRONLOCK_SENTINEL_AUTH"];

/**
 * Parses CRONLOCK_AUTH: `user:password`, or a password alone; for cronlock also `user password`, as for Redis's AUTH.
 * If CRONLOCK_USER of newer cronlock versions is set, the whole text is the password.
 */
function parseCronlockLogin(tool: CronlockTool, variables: ToolVariables): CronlockLogin | undefined {
  const auth = variables.get("CRONLOCK_AUTH");
  if (auth === undefined) return undefined;
  const user = variables.getText("CRONLOCK_USER");
  if (user !== undefined) return { user, password: auth.value, source: auth.source };
  const parts =
    /^([^:\s]+):(.+)$/s.exec(auth.value) ?? (tool === "cronlock" ? /^(\S+) +(\S+)$/.exec(auth.value) : null);
  const [, name, secret] = parts ?? [];
  return name === undefined || secret === undefined
    ? { password: auth.value, source: auth.source }
    : { user: name, password: secret, source: auth.source };
}

const ETCD_PORT = 2379;
/** The default port of Redis. A line with this port was not migrated yet. */
const REDIS_PORT = 6379;

const ADDRESS = /^(?:(https?):\/\/)?(\[[0-9A-Fa-f:.]+\]|[^:/\s]+)(?::(\d+))?\/?$/;

/**
 * Parses the addresses of etcd in CRONLOCK_HOST and CRONLOCK_PORT: hosts separated by commas or blanks, each with its
 * own port or the common one.
 * @returns undefined if neither is set: the signalbox configuration then names the endpoints
 * @throws ConfigError
 */
function parseCronlockAddresses(variables: ToolVariables, usesTls: boolean): SourcedValue | undefined {
  const host = variables.get("CRONLOCK_HOST");
  const port = variables.getCount("CRONLOCK_PORT", ETCD_PORT, { least: 1, most: 65_535 });
  const source = host?.source ?? variables.get("CRONLOCK_PORT")?.source;
  if (source === undefined) return undefined;
  const hosts = (host?.value ?? "localhost").split(/[\s,]+/).filter((one) => one !== "");
  if (hosts.length === 0) throw new ConfigError(`${source}: no host is given`);
  return { value: hosts.map((one) => parseAddress(one, { port, usesTls, source })).join(","), source };
}

function parseAddress(
  text: string,
  { port, usesTls, source }: { port: number; usesTls: boolean; source: string },
): string {
  // An address with user and password holds a secret, which must not be repeated in the message.
  if (text.includes("@"))
    throw new ConfigError(
      `${source}: an address contains user and password (not shown here); use CRONLOCK_AUTH`,
    );
  const [, scheme = "http", name, own = String(port)] = ADDRESS.exec(text) ?? [];
  if (name === undefined)
    throw new ConfigError(
      `${source}: ${quoteText(text)} is not a host, such as etcd1.example.com, 192.0.2.7:2379 or [2001:db8::7]`,
    );
  return `${usesTls ? "https" : scheme}://${name}:${own}`;
}

/** Returns a hint for unreachable endpoints, if one has the port of Redis. */
export function findPortHint(endpoints: string): string | undefined {
  return endpoints.split(",").some((one) => one.endsWith(`:${REDIS_PORT}`))
    ? `port ${REDIS_PORT} is the port of Redis, etcd listens on ${ETCD_PORT}: set CRONLOCK_PORT`
    : undefined;
}

/** Requested settings, each with its source for messages. */
export type RequestedSettings = Partial<Record<SettingKey, SourcedValue | undefined>>;

/** The part of the signalbox configuration that the options build on. */
export interface SignalboxConfig {
  prefix: string;
  endpoints: readonly string[];
}

/**
 * Builds settings from options. They take precedence over all others. The front end and the translation to `signalbox
 * run` both use them.
 * @param readConfig  called only if needed, because it reads files
 */
export function buildCronlockSettings(
  parsed: CronlockOptions,
  readConfig: () => SignalboxConfig,
): RequestedSettings {
  const { connectTimeout, database, usesTls, timeout, getSource } = parsed;
  const createSetting = (value: string, name: string) => ({ value, source: getSource(name) });
  const createSeconds = (count: number, name: string) => createSetting(formatDuration(count * 1000), name);
  const listSecureEndpoints = () =>
    readConfig().endpoints.map((one) => `https://${one.replace(/^https?:\/\//, "")}`);
  return {
    endpoints:
      parsed.endpoints ??
      (usesTls ? createSetting(listSecureEndpoints().join(","), "CRONLOCK_TLS") : undefined),
    insecureSkipTlsVerify:
      usesTls && parsed.skipsVerification ? createSetting("true", "CRONLOCK_TLS_SKIP_VERIFY") : undefined,
    prefix: database > 0 ? createSetting(`${readConfig().prefix}db${database}/`, "CRONLOCK_DB") : undefined,
    ...buildLoginSettings(parsed),
    connectTimeout:
      connectTimeout === 0
        ? createSetting("100ms", "CRONLOCK_RECONNECT_ATTEMPTS") // a single attempt without a pause still takes time
        : createSeconds(connectTimeout, "CRONLOCK_RECONNECT_ATTEMPTS"),
    grace: createSeconds(parsed.grace, "CRONLOCK_GRACE"),
    maxHold: createSeconds(parsed.release, "CRONLOCK_RELEASE"),
    timeout: timeout > 0 ? createSeconds(timeout, "CRONLOCK_TIMEOUT") : undefined,
    busyExitCode: { value: String(CRONLOCK_CODES.refused), source: `exit codes of ${parsed.tool}` },
  };
}

export function buildLoginSettings({ login }: CronlockOptions): RequestedSettings {
  if (login === undefined) return {};
  const { user, password, source } = login;
  return {
    user: user === undefined ? undefined : { value: user, source },
    password: { value: password, source },
  };
}

/**
 * Computes the hash that a tool uses as key if none is set: of its arguments, joined with blanks; for cronlock as
 * bash's `echo` prints them.
 * @returns the MD5 hash, in hexadecimal digits
 */
export function computeArgumentsHash(tool: CronlockTool, words: readonly string[]): string {
  const text = tool === "golock" ? words.join(" ") : formatEcho(words);
  return createHash("md5").update(text).digest("hex");
}

/** Formats words like `echo`: leading words that consist only of its options are not printed. */
function formatEcho(words: readonly string[]): string {
  const start = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const options = start < 0 ? words : words.slice(0, start);
  const printed = start < 0 ? [] : words.slice(start);
  return `${printed.join(" ")}${options.some((option) => option.includes("n")) ? "" : "\n"}`;
}

/**
 * Builtins of bash for which there is no program, or which a program cannot replace. cronlock is a script of bash and
 * runs its words as a command of its own, so that lines such as `cronlock eval "a && b"` and `cronlock . ./job` work.
 */
const BUILTINS =
  /^(?:[.:]|alias|bind|builtin|cd|command|declare|dirs|eval|exec|exit|export|hash|help|let|popd|pushd|read|readonly|return|set|shopt|source|times|trap|type|typeset|ulimit|umask|unalias|unset|wait)$/;

/** Returns the command that bash runs for words that begin with a builtin; other words unchanged. */
function wrapBuiltin(words: readonly string[]): readonly string[] {
  return BUILTINS.test(words[0] ?? "") ? ["bash", "-c", '"$@"', "bash", ...words] : words;
}

export const translateCronlock = createTranslator("cronlock");
export const translateGolock = createTranslator("golock");

function createTranslator(tool: CronlockTool): LineTranslator {
  return (words, { variables, files }) => {
    const file = findConfigFile(tool, variables, files);
    const parsed = parseCronlockOptions(
      tool,
      words,
      new ToolVariables(variables, file?.assignments, file?.path),
    );
    if (parsed.isReset)
      throw new UsageError(
        `CRONLOCK_RESET=yes runs nothing; the same is done by: signalbox reset lock ${quoteShellWord(parsed.lock)} --yes`,
      );
    if (words.length === 0) throw new UsageError(`no command was given; usage: ${tool} COMMAND [ARG...]`);
    const { options, env } = buildSettingFlags(parsed, createVariablesReader(variables));
    return {
      options: ["--lock", parsed.lock, ...parsed.runOptions, ...options],
      ...(Object.keys(env).length > 0 && { env }),
      command: parsed.command,
      notes: [...buildNotes(parsed), ...buildExportNotes(file, variables)],
    };
  };
}

/** @throws ConfigError if a named file is not among those that were read */
function findConfigFile(
  tool: CronlockTool,
  variables: ReadonlyMap<string, string>,
  files: ToolFiles,
): ShellFile | undefined {
  const path = variables.get("CRONLOCK_CONFIG") || (tool === "cronlock" ? SYSTEM_FILE : undefined);
  const text = path === undefined ? undefined : files.get(path);
  if (path === undefined || (text === undefined && path === SYSTEM_FILE)) return undefined;
  if (text === undefined)
    throw new ConfigError(
      `${clean(path)} could not be read; CRONLOCK_CONFIG names it: run this on a host that has the file`,
    );
  return { path, assignments: parseShellFile(path, text, Object.fromEntries(variables)) };
}

/** Builds notes about exports: a sourced file also changes the command's environment. */
function buildExportNotes(file: ShellFile | undefined, variables: ReadonlyMap<string, string>): string[] {
  const names = (file?.assignments ?? [])
    .filter(({ name, isExported }) => !name.startsWith("CRONLOCK_") && (isExported || variables.has(name)))
    .map(({ name }) => name);
  if (file === undefined || names.length === 0) return [];
  return [`the command no longer gets what ${clean(file.path)} exports: ${[...new Set(names)].join(", ")}`];
}

/** Reads only variables of the line itself. Configuration files of signalbox apply when the line runs. */
function createVariablesReader(variables: ReadonlyMap<string, string>): () => SignalboxConfig {
  const getValue = (key: SettingKey) => variables.get(getEnvVariableName(key)) ?? "";
  const [prefix, endpoints] = [getValue("prefix"), getValue("endpoints")];
  return () => ({
    prefix: prefix === "" ? SETTINGS.prefix.default : prefix.replace(/\/?$/, "/"),
    endpoints: endpoints === "" ? SETTINGS.endpoints.default : endpoints.split(","),
  });
}

/** Converts settings to flags, or to variables if a flag would make a secret visible. */
function buildSettingFlags(
  parsed: CronlockOptions,
  readConfig: () => SignalboxConfig,
): { options: string[]; env: Record<string, string> } {
  const options: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, setting] of Object.entries(buildCronlockSettings(parsed, readConfig))) {
    if (setting === undefined) continue;
    const key = name as SettingKey;
    const flag = getFlagName(key);
    if (flag === undefined) env[getEnvVariableName(key)] = setting.value;
    else options.push(flag, ...(typeof SETTINGS[key].default === "boolean" ? [] : [setting.value]));
  }
  return { options, env };
}

function buildNotes({
  showsKey,
  notes,
  timeout,
  getSource,
  login,
  endpoints,
  usesTls,
  database,
}: CronlockOptions) {
  return collectTexts([
    ...notes,
    showsKey && "CRONLOCK_SHOW_KEY has no effect any more: the lock's name is in the line",
    timeout > 0 &&
      "a command that has run too long gets TERM, and KILL 10 s later, instead of KILL at once; the line ends with 124 instead of 202",
    !getSource("CRONLOCK_RELEASE").startsWith("default ") &&
      "a command that still runs after CRONLOCK_RELEASE is terminated, since its lock is free then (124); before, it continued",
    login !== undefined &&
      endpoints?.value.includes("http://") &&
      "without TLS the password is not sent: CRONLOCK_TLS=yes, or add --allow-plaintext-password",
    login !== undefined &&
      "other users see a password in a crontab while the line runs; put it into a file that no other user can read: --password-file",
    login !== undefined &&
      login.user === undefined &&
      "CRONLOCK_AUTH names no user, which etcd needs: set SIGNALBOX_USER or --user",
    endpoints === undefined &&
      usesTls &&
      "CRONLOCK_TLS is set without a host: check the addresses in --endpoints",
    database > 0 &&
      `CRONLOCK_DB becomes a prefix of its own: check --prefix, if the prefix configured is not ${quoteText(SETTINGS.prefix.default)}`,
  ]);
}
