import { EXIT, SignalboxError, UsageError } from "../../../../core/base/errors.ts";
import { createFindingBuilder, type Finding } from "../../../../core/base/finding.ts";
import { type Config, resolveConfig } from "../../../../core/config/config.ts";
import { readFileWithMode } from "../../../../core/config/files.ts";
import { thisMachine } from "../../../../core/config/machine.ts";
import {
  getEnvVariableName,
  getSetting,
  type SettingKey,
  type Settings,
} from "../../../../core/config/settings.ts";
import { readHostFacts } from "../../../../core/fleet/host.ts";
import { validateName } from "../../../../core/protocol/names.ts";
import type { Call } from "../../../frame/command.ts";
import { parseCall } from "../../../frame/command-line/parse-call.ts";
import type { Invocation } from "../../../syntax/line-commands.ts";
import { UNKNOWN_VALUE } from "../../../syntax/shell-parser.ts";
import { getBaseName } from "../../../syntax/shell-wrappers.ts";
import type { CrontabJob } from "../../../views/checks/crontab.ts";
import { type RunFlags, runCommand } from "../../run/run.ts";

/** The result of reading a line: the job, if the line can be parsed, and the findings. */
export interface LineReading {
  job: CrontabJob | undefined;
  findings: readonly Finding[];
}

/** The settings and variables that apply where a line sets none. */
export interface CheckEnvironment {
  /** The settings of this check, also to recognize lines for another etcd. */
  settings: Settings;
  /** HOME of the user that the line runs as, if known; for the check, of the user who runs it. */
  home: string | undefined;
  /**
   * PATH of the user who runs the check, to suggest where programs are that the crontab's PATH does not find. Undefined
   * to check no programs.
   */
  searchPath?: string | undefined;
}

/** A line of a crontab, and what applies to it. */
export interface CheckedLine extends CheckEnvironment {
  where: string;
  /** Whether the crontab has a PATH line. */
  isPathSet: boolean;
}

/** Settings of the credentials. The check needs none of them, and its user may not be allowed to read them. */
const CREDENTIAL_SETTINGS: readonly SettingKey[] = [
  "user",
  "password",
  "passwordFile",
  "cert",
  "key",
  "cacert",
];

/** Reads a `signalbox run` line with the parser and the settings that the run itself uses. */
export function readSignalbox(invocation: Invocation, line: CheckedLine): LineReading {
  const notes: Finding[] = [];
  try {
    const call = parseCall(runCommand, hideUnknownValues(invocation.words));
    if (call.flags.help) return { job: undefined, findings: [] };
    const config = resolveLineConfig(call, invocation, line, notes);
    const job = buildJob(call, config, line);
    return { job, findings: [...notes, ...findBusyNotes(invocation, config.values, line)] };
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    if (error.exitCode === EXIT.usage && canHideOptions(invocation.words))
      return {
        job: undefined,
        findings: [createFindingBuilder("shell", line.where).hint(UNSEEN_OPTIONS_MESSAGE)],
      };
    const kind = error.exitCode === EXIT.usage ? "usage" : "config";
    return {
      job: undefined,
      findings: [...notes, createFindingBuilder(kind, line.where).failure(error.message)],
    };
  }
}

/** Leaves out optional values that are only known after the shell expands them. */
function hideUnknownValues(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return words.map((word, at) =>
    word.includes(UNKNOWN_VALUE) && (end < 0 || at < end)
      ? word.replace(/^(--(?:wait|capture))=.*/s, "$1")
      : word,
  );
}

/** Warns if `||` or a wrapper treats the exit code of a busy lock as a failure. */
function findBusyNotes(
  { wrapper, next }: Invocation,
  { busyExitCode }: Settings,
  line: CheckedLine,
): Finding[] {
  const watcher = wrapper.map(getBaseName).find((word) => /^(chronic|cronic)$/.test(word));
  const listener = next === "||" ? next : watcher;
  if (busyExitCode === 0 || listener === undefined) return [];
  const detail = `${listener} treats exit code ${busyExitCode} as a failure, but a run exits with it when the lock is held`;
  return [createFindingBuilder("busy", line.where).hint(detail, "add -E 0: then such a run exits with 0")];
}

const UNSEEN_OPTIONS_MESSAGE =
  "the options are known only after the shell expands them, and were not checked";

/** Reports whether the options contain a word that the shell may expand to several. */
function canHideOptions(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end < 0 ? undefined : end).includes(UNKNOWN_VALUE);
}

/** Resolves the settings of the run. What cannot be read is left out and added to `notes`. */
function resolveLineConfig(
  { settings }: Call<RunFlags>,
  { variables }: Invocation,
  line: CheckedLine,
  notes: Finding[],
): Config {
  const known = Object.entries(settings).filter(
    ([key, value]) =>
      !(CREDENTIAL_SETTINGS as string[]).includes(key) && !String(value).includes(UNKNOWN_VALUE),
  );
  const home = line.home === undefined ? [] : [["HOME", line.home] as const];
  const env = [...home, ...variables];
  const secret = CREDENTIAL_SETTINGS.flatMap((key) => [
    getEnvVariableName(key),
    getSetting(key).etcdctl ?? "",
  ]);
  const plain = env.filter(([name, value]) => !secret.includes(name) && !value.includes(UNKNOWN_VALUE));
  return resolveConfig({
    flags: Object.fromEntries(known),
    env: Object.fromEntries(plain),
    readFile: (path) => readConfigFile(path, line, notes),
  });
}

/**
 * Reads a configuration or password file. If this user cannot read it, returns `{}`, which is a configuration without
 * settings and also one line, as a password file needs.
 */
function readConfigFile(
  path: string,
  line: CheckedLine,
  notes: Finding[],
): ReturnType<typeof readFileWithMode> {
  const access = { mode: 0o600, uid: process.getuid?.() ?? 0 };
  try {
    const file = readFileWithMode(path);
    return file && { ...file, ...access };
  } catch {
    notes.push(
      createFindingBuilder("config", line.where).hint(
        `this user cannot read ${path}; its settings were ignored`,
      ),
    );
    return { text: "{}", ...access };
  }
}

function buildJob(call: Call<RunFlags>, { values, sources }: Config, line: CheckedLine): CrontabJob {
  const [file = ""] = call.command;
  if (file === "") throw new UsageError("COMMAND is empty; put its name after --");
  const locks = parseLocks(call, file);
  const leases = call.flags.lease ?? [];
  if (call.flags["no-lock"] && leases.length === 0)
    throw new UsageError("--no-lock needs --lease; add a lease, or leave --no-lock out");
  const isOwn = (key: "prefix" | "endpoints") => !/^(flag|environment|context) /.test(sources[key]);
  const isSame = (key: "prefix" | "endpoints") =>
    sortAddresses(values[key]) === sortAddresses(line.settings[key]);
  return {
    where: line.where,
    tool: "signalbox",
    locks,
    isShared: call.flags.shared === true,
    group: values.group,
    leases: leases.filter((lease) => !lease.includes(UNKNOWN_VALUE)),
    ttl: values.ttl,
    grace: values.grace,
    command: call.command,
    here: readHostFacts(thisMachine, { host: values.host, macros: values.macros }),
    isElsewhere: !(["prefix", "endpoints"] as const).every((key) => isOwn(key) || isSame(key)),
  };
}

/** Returns the same text for the same addresses in any order. */
function sortAddresses(value: string | readonly string[]): string {
  return [value].flat().sort().join(",");
}

function parseLocks(call: Call<RunFlags>, file: string): CrontabJob["locks"] {
  const named = call.flags.lock;
  if (call.flags["no-lock"] && named !== undefined)
    throw new UsageError("--lock and --no-lock exclude each other");
  if (call.flags["no-lock"]) return [];
  const names = named ?? [getBaseName(file)];
  return names
    .filter((name) => !name.includes(UNKNOWN_VALUE))
    .map((name) => ({ name: validateName("lock", name), isNamed: named !== undefined }));
}
