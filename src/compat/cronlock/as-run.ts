import { ConfigError, UsageError } from "../../base/errors.ts";
import { clean, quoted } from "../../base/text.ts";
import { shellWord } from "../../commands/shell-word.ts";
import { flagOf, SETTINGS, type SettingKey, variableOf } from "../../config/settings.ts";
import type { AsRun, Translate } from "../as-run.ts";
import type { Tool } from "./lock-name.ts";
import { type Own, settingsOf } from "./settings.ts";
import { parseShellFile, type ShellFile } from "./shell-file.ts";
import { Variables } from "./variables.ts";
import { type Wish, wishOf } from "./wish.ts";

/** Where cronlock finds its configuration when no other is named, and none stands beside the program. */
export const SYSTEM_FILE = "/etc/cronlock.conf";

/** The file that a line of the tool reads, as far as its words and variables tell. */
export function fileOf(tool: Tool, variables: ReadonlyMap<string, string>): string | undefined {
  const named = variables.get("CRONLOCK_CONFIG") ?? "";
  if (named !== "") return named;
  return tool === "cronlock" ? SYSTEM_FILE : undefined;
}

/** A line of cronlock. */
export const cronlockAsRun: Translate = (words, variables, files) =>
  asRun("cronlock", words, variables, files);

/** A line of golock. */
export const golockAsRun: Translate = (words, variables, files) => asRun("golock", words, variables, files);

function asRun(
  tool: Tool,
  words: readonly string[],
  variables: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string> = new Map(),
): AsRun {
  const file = fileIn(tool, variables, files);
  const wish = wishOf(tool, words, new Variables(variables, file?.assignments, file?.path));
  if (wish.resets)
    throw new UsageError(
      `CRONLOCK_RESET=yes runs nothing; its like is: signalbox reset lock ${shellWord(wish.lock)} --yes`,
    );
  if (words.length === 0) throw new UsageError(`no command was given; usage: ${tool} COMMAND [ARG...]`);
  const { options, env } = wordsOf(wish, ownOf(variables));
  return {
    options: ["--lock", wish.lock, ...options],
    ...(Object.keys(env).length > 0 && { env }),
    command: words,
    notes: [...notesOf(wish), ...exportNotes(file, variables)],
  };
}

/** @throws ConfigError for a file that was named and is not among those that were read */
function fileIn(
  tool: Tool,
  variables: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string>,
): ShellFile | undefined {
  const path = fileOf(tool, variables);
  const text = path === undefined ? undefined : files.get(path);
  if (path === undefined || (text === undefined && path === SYSTEM_FILE)) return undefined;
  if (text === undefined)
    throw new ConfigError(
      `${clean(path)} could not be read; it is named in CRONLOCK_CONFIG: do this on a host that has it`,
    );
  return { path, assignments: parseShellFile(path, text, Object.fromEntries(variables)) };
}

/** A file that is sourced changes the command's environment too. */
function exportNotes(file: ShellFile | undefined, variables: ReadonlyMap<string, string>): string[] {
  const names = (file?.assignments ?? [])
    .filter(({ name, isExported }) => !name.startsWith("CRONLOCK_") && (isExported || variables.has(name)))
    .map(({ name }) => name);
  if (file === undefined || names.length === 0) return [];
  return [`the command no longer gets what ${clean(file.path)} exports: ${[...new Set(names)].join(", ")}`];
}

/** Only what the line itself says: files of ours count when it runs. */
function ownOf(variables: ReadonlyMap<string, string>): () => Own {
  const value = (key: SettingKey) => variables.get(variableOf(key)) ?? "";
  const [prefix, endpoints] = [value("prefix"), value("endpoints")];
  return () => ({
    prefix: prefix === "" ? SETTINGS.prefix.default : prefix.replace(/\/?$/, "/"),
    endpoints: endpoints === "" ? SETTINGS.endpoints.default : endpoints.split(","),
  });
}

/** Settings as flags, or as variables where everybody could read a flag. */
function wordsOf(wish: Wish, own: () => Own): { options: string[]; env: Record<string, string> } {
  const options: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, { value }] of Object.entries(settingsOf(wish, own))) {
    const key = name as SettingKey;
    const flag = flagOf(key);
    if (flag === undefined) env[variableOf(key)] = value;
    else options.push(flag, ...(typeof SETTINGS[key].default === "boolean" ? [] : [value]));
  }
  return { options, env };
}

function notesOf(wish: Wish): string[] {
  const notes = [...wish.notes];
  if (wish.timeout > 0)
    notes.push(
      "a command that has run too long gets TERM, and KILL 10 s later, where it was killed at once; the line ends with 124 instead of 202",
    );
  if (!wish.sourceOf("CRONLOCK_RELEASE").startsWith("default "))
    notes.push(
      "a command that still runs after CRONLOCK_RELEASE is terminated, as its lock is free then (124); it ran on before",
    );
  if (wish.login !== undefined && wish.endpoints?.value.includes("http://"))
    notes.push("without TLS the password is not sent: CRONLOCK_TLS=yes, or add --allow-plaintext-password");
  if (wish.login !== undefined)
    notes.push(
      "a password in a crontab is seen by others while the line runs; a file that nobody else can read is a better place: --password-file",
    );
  if (wish.login !== undefined && wish.login.user === undefined)
    notes.push("etcd has users: CRONLOCK_AUTH names none, so SIGNALBOX_USER or --user must");
  if (wish.endpoints === undefined && wish.usesTls)
    notes.push("CRONLOCK_TLS speaks of no host: check the addresses in --endpoints");
  if (wish.database > 0)
    notes.push(
      `CRONLOCK_DB becomes a prefix of its own: check --prefix, if the prefix configured is not ${quoted(SETTINGS.prefix.default)}`,
    );
  return notes;
}
