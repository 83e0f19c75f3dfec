import { parseDuration } from "../../../base/duration.ts";
import { EXIT, SignalboxError, UsageError } from "../../../base/errors.ts";
import type { Finding } from "../../../base/finding.ts";
import { type Config, resolveConfig } from "../../../config/config.ts";
import { readFile } from "../../../config/files.ts";
import { thisMachine } from "../../../config/machine.ts";
import { type SettingKey, type Settings, settingOf, variableOf } from "../../../config/settings.ts";
import { hostFacts } from "../../../fleet/host.ts";
import { UNKNOWN } from "../../../fleet/shell-words.ts";
import type { Job } from "../../../model/checks/job.ts";
import { checkedName } from "../../../protocol/names.ts";
import { listFlag, textFlag } from "../../flags.ts";
import { parseCall } from "../../parse.ts";
import { run } from "../../run/run.ts";
import type { Call } from "../../spec.ts";
import type { Invocation } from "./invocations.ts";

/** What a line comes to: a job, if it can be understood, and what is wrong with it. */
export interface Reading {
  job: Job | undefined;
  findings: readonly Finding[];
}

/** Where a line stands, and whose configuration it meets. */
export interface Place {
  where: string;
  /** HOME of the user that it runs as, where that is known. */
  home: string | undefined;
  /** The etcd that is looked into, to tell lines that are about another. */
  settings: Pick<Settings, "prefix" | "endpoints">;
}

/** Settings that say how to get in: neither needed here, nor readable for everybody who checks. */
const CREDENTIALS: readonly SettingKey[] = ["user", "password", "passwordFile", "cert", "key", "cacert"];

/** A `signalbox run` line, by the parser and the settings that the run itself will use. */
export function readSignalbox(invocation: Invocation, place: Place): Reading {
  const notes: Finding[] = [];
  try {
    const call = parseCall(run, invocation.words);
    if (call.flags.help) return { job: undefined, findings: [] };
    const config = settled(call, invocation, place, notes);
    const job = jobOf(call, config, place);
    return { job, findings: [...notes, ...busyNotes(invocation, config.values, place)] };
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    if (error.exitCode === EXIT.usage && mayBeMore(invocation.words))
      return { job: undefined, findings: [about(place, "shell", "hint", UNSEEN)] };
    const kind = error.exitCode === EXIT.usage ? "usage" : "config";
    return { job: undefined, findings: [...notes, about(place, kind, "failure", error.message)] };
  }
}

/** Where a code that is not 0 sends a mail or starts something, the usual one of a run that found its lock taken does too. */
function busyNotes({ wrapper, next }: Invocation, { busyExitCode }: Settings, place: Place): Finding[] {
  const watcher = wrapper
    .map((word) => word.slice(word.lastIndexOf("/") + 1))
    .find((word) => /^(chronic|cronic)$/.test(word));
  const listener = next === "||" ? next : watcher;
  if (busyExitCode === 0 || listener === undefined) return [];
  const detail = `${listener} takes exit code ${busyExitCode} for a failure, which a run ends with when its lock is taken`;
  return [{ ...about(place, "busy", "hint", detail), remedy: "-E 0 ends such a run with 0" }];
}

const UNSEEN = "its options are known only when the shell runs it; they were not checked";

/** Whether there is a word among the options that may be any number of them. */
function mayBeMore(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end < 0 ? undefined : end).includes(UNKNOWN);
}

function about({ where }: Place, kind: string, level: Finding["level"], detail: string): Finding {
  return { kind, check: where, level, detail };
}

/** The settings as the run will find them. What cannot be read here is passed over, and said. */
function settled({ settings }: Call, { variables }: Invocation, place: Place, notes: Finding[]): Config {
  const known = Object.entries(settings).filter(
    ([key, value]) => !(CREDENTIALS as string[]).includes(key) && !String(value).includes(UNKNOWN),
  );
  const home = place.home === undefined ? [] : [["HOME", place.home] as const];
  const env = [...home, ...variables];
  const secret = CREDENTIALS.flatMap((key) => [variableOf(key), settingOf(key).etcdctl ?? ""]);
  const plain = env.filter(([name, value]) => !secret.includes(name) && !value.includes(UNKNOWN));
  return resolveConfig({
    flags: Object.fromEntries(known),
    env: Object.fromEntries(plain),
    readFile: (path) => readable(path, place, notes),
  });
}

/** A file that is for another user's eyes only: `{}` is a configuration without settings, and one line as of a password. */
function readable(path: string, place: Place, notes: Finding[]): ReturnType<typeof readFile> {
  try {
    const file = readFile(path);
    return file === undefined ? undefined : { ...file, mode: 0o600, uid: process.getuid?.() ?? file.uid };
  } catch {
    notes.push(
      about(place, "config", "hint", `${path} cannot be read by this user; what it sets was not considered`),
    );
    return { text: "{}", mode: 0o600, uid: process.getuid?.() ?? 0 };
  }
}

function jobOf(call: Call, { values, sources }: Config, place: Place): Job {
  const [file = ""] = call.command;
  if (file === "") throw new UsageError("the command is empty; put its name after --");
  const lock = lockOf(call, file);
  const leases = listFlag(call, "lease");
  if (call.flags["no-lock"] && leases.length === 0)
    throw new UsageError(
      "--no-lock without --lease leaves nothing to hold; name a lease, or leave --no-lock out",
    );
  checkWait(call);
  const isOwn = (key: "prefix" | "endpoints") => !/^(flag|environment) /.test(sources[key]);
  const isSame = (key: "prefix" | "endpoints") => inOrder(values[key]) === inOrder(place.settings[key]);
  return {
    ...{ where: place.where, tool: "signalbox", lock, group: values.group },
    leases: leases.filter((lease) => !lease.includes(UNKNOWN)),
    ...{ ttl: values.ttl, grace: values.grace, command: call.command },
    here: hostFacts(thisMachine, { host: values.host, macros: values.macros }),
    isElsewhere: !(["prefix", "endpoints"] as const).every((key) => isOwn(key) || isSame(key)),
  };
}

/** The same text for the same addresses, whatever their order. */
function inOrder(value: string | readonly string[]): string {
  return [value].flat().sort().join(",");
}

function lockOf(call: Call, file: string): Job["lock"] {
  const named = textFlag(call, "lock");
  if (call.flags["no-lock"] && named !== undefined)
    throw new UsageError("--lock and --no-lock exclude each other");
  const name = named ?? file.slice(file.lastIndexOf("/") + 1);
  if (call.flags["no-lock"] || name.includes(UNKNOWN)) return undefined;
  return { name: checkedName("lock", name), isNamed: named !== undefined };
}

function checkWait(call: Call): void {
  const wait = textFlag(call, "wait");
  if (wait === undefined || wait.includes(UNKNOWN)) return;
  const parsed = parseDuration(wait);
  if ("fault" in parsed) throw new UsageError(`--wait: ${parsed.fault}`);
}
