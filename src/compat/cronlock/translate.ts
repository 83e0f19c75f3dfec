import { ConfigError, UsageError } from "../../base/errors.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { clean, collectTexts, quoteText } from "../../base/text.ts";
import { getEnvVariableName, getFlagName, SETTINGS, type SettingKey } from "../../config/settings.ts";
import type { LineTranslator, ToolFiles } from "../front-end.ts";
import {
  buildCronlockSettings,
  type CronlockOptions,
  parseCronlockOptions,
  type SignalboxConfig,
} from "./options.ts";
import {
  type CronlockTool,
  parseShellFile,
  type ShellFile,
  SYSTEM_FILE,
  ToolVariables,
} from "./variables.ts";

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
      options: ["--lock", parsed.lock, ...options],
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
