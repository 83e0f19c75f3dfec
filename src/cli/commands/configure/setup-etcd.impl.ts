import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";
import { quoteText } from "../../../core/base/text.ts";
import { resolveConfig } from "../../../core/config/config.ts";
import { requireLinux } from "../../../core/process/native/locate.ts";
import type { CommandExecutor, CommandIo } from "../../frame/command.ts";
import type { SetupEtcdFlags } from "./setup-etcd.ts";
import {
  buildHostScript,
  buildSetupScript,
  buildUsersScript,
  ETCD_USERS,
  RUNNER_USER,
} from "./setup-etcd-scripts.ts";

/** What names of hosts consist of. They become parts of scripts and names of files. */
const HOST_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

export const execute: CommandExecutor<SetupEtcdFlags> = async (call, io) => {
  const { args: hosts, flags } = call;
  if (flags.run) requireLinux("setup etcd --run");
  requireDistinctHosts(hosts);
  if (flags.package !== undefined) requirePackage(flags.package, flags.run);
  const { prefix } = resolveConfig({ flags: call.settings, env: io.env }).values;
  const folder = flags.to ?? "signalbox-etcd";
  if (hasPlan(folder, { hosts, prefix }))
    io.writeMessage(`note: ${quoteText(folder)} is kept: it was made for these hosts`);
  else makeFolder(folder, { hosts, prefix });
  if (hosts.length % 2 === 0)
    io.writeMessage(`note: ${hosts.length} members survive no more losses than ${hosts.length - 1} do`);
  if (flags.run) return runSetup(folder, flags.package, io);
  io.writeOutput(describeSteps(folder, hosts));
  return EXIT.ok;
};

/** @throws UsageError */
function requirePackage(file: string, isRun: boolean | undefined): void {
  if (!isRun) throw new UsageError("--package needs --run; setup.sh takes the package as its argument");
  if (!existsSync(file)) throw new UsageError(`--package: there is no file ${quoteText(file)}`);
}

/** Runs the script of all steps. @returns its exit code; 128 and the signal that ended it */
function runSetup(folder: string, file: string | undefined, io: CommandIo): number {
  const args = [join(folder, "setup.sh"), ...(file === undefined ? [] : [resolve(file)])];
  const { status, signal, error } = spawnSync("sh", args, { stdio: "inherit", env: io.env });
  if (error !== undefined) throw new SignalboxError(EXIT.io, `cannot run sh: ${error.message}`);
  return status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** @throws UsageError */
function requireDistinctHosts(hosts: readonly string[]): void {
  for (const [index, host] of hosts.entries()) {
    if (!HOST_NAME.test(host) || host === "users" || host === "setup") {
      const what = "a name of letters, digits, dots and dashes, or an IPv4 address, and not users or setup";
      throw new UsageError(`HOST must be ${what}; got ${quoteText(host)}`);
    }
    if (hosts.indexOf(host) !== index) throw new UsageError(`${quoteText(host)} is given twice`);
  }
}

/** For whom a folder was made. It is written last. */
interface FolderPlan {
  hosts: readonly string[];
  prefix: string;
}

const PLAN_FILE = "plan.json";

/**
 * Returns whether the folder was made for the same hosts and prefix. Its keys may be in use.
 * @throws SignalboxError 74 if it was made for others, or by something else
 */
function hasPlan(folder: string, plan: FolderPlan): boolean {
  if (!existsSync(folder)) return false;
  const text = existsSync(join(folder, PLAN_FILE))
    ? readFileSync(join(folder, PLAN_FILE), "utf8")
    : undefined;
  if (text === formatPlan(plan)) return true;
  const what =
    text === undefined
      ? "it exists, and its keys may be in use"
      : `it was made for ${text.trim()}, and its keys may be in use`;
  throw new SignalboxError(EXIT.io, `cannot make the folder ${quoteText(folder)}: ${what}; see --to`);
}

const formatPlan = ({ hosts, prefix }: FolderPlan) => `${JSON.stringify({ hosts, prefix })}\n`;

/** Makes the folder with all its files, or nothing. @throws SignalboxError 74 if it cannot be made */
function makeFolder(folder: string, plan: FolderPlan): void {
  let unfinished: string | undefined;
  try {
    unfinished = mkdtempSync(`${folder}.unfinished-`);
    writeFiles(unfinished, plan);
    renameSync(unfinished, folder);
  } catch (cause) {
    if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true });
    if (cause instanceof SignalboxError) throw cause;
    const { message } = cause as Error;
    throw new SignalboxError(EXIT.io, `cannot make the folder ${quoteText(folder)}: ${message}`, { cause });
  }
}

function writeFiles(folder: string, { hosts, prefix }: FolderPlan): void {
  makeCertificates(folder, hosts);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  for (const user of Object.keys(ETCD_USERS))
    write(`${user}.password`, `${randomBytes(24).toString("hex")}\n`);
  const plan = {
    hosts,
    prefix,
    token: `signalbox-${randomBytes(8).toString("hex")}`,
    certificates: { ca: read("ca.pem"), cert: read("etcd.pem"), key: read("etcd-key.pem") },
    runnerPassword: read(`${RUNNER_USER}.password`).trim(),
  };
  for (const host of hosts) write(`${host}.sh`, buildHostScript(plan, host));
  write("users.sh", buildUsersScript(plan));
  write("setup.sh", buildSetupScript(plan));
  write(PLAN_FILE, formatPlan(plan));
}

function describeSteps(folder: string, hosts: readonly string[]): string {
  const word = quoteShellWord(folder);
  const steps = [...hosts.map((host) => `ssh ${host} sh < ${word}/${host}.sh`), `sh ${word}/users.sh`];
  const list = steps.map((step) => `  ${step}\n`).join("");
  return `${word} has all that a new etcd needs, with secrets. As root, sh ${word}/setup.sh does these steps:\n${list}`;
}

const NEW_KEY = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650".split(" ");
const SIGNED_KEY_OPTIONS = [...NEW_KEY, "-CA", "ca.pem", "-CAkey", "ca-key.pem"];

/**
 * Makes an authority (`ca.pem`, `ca-key.pem`) and one certificate for all members (`etcd.pem`, `etcd-key.pem`).
 * @throws SignalboxError 78 if openssl is missing or too old
 */
function makeCertificates(folder: string, hosts: readonly string[]): void {
  runOpenssl(folder, [
    ...NEW_KEY,
    "-subj",
    "/CN=signalbox CA",
    "-keyout",
    "ca-key.pem",
    "-out",
    "ca.pem",
    "-addext",
    "keyUsage=critical,keyCertSign",
  ]);
  const names = hosts.map((host) => `${isIP(host) === 0 ? "DNS" : "IP"}:${host}`);
  runOpenssl(folder, [
    ...SIGNED_KEY_OPTIONS,
    // No common name: etcd refuses its gateway if that has a certificate which could be a user's.
    "-subj",
    "/O=etcd",
    "-keyout",
    "etcd-key.pem",
    "-out",
    "etcd.pem",
    "-addext",
    "basicConstraints=critical,CA:FALSE",
    "-addext",
    "extendedKeyUsage=serverAuth,clientAuth",
    "-addext",
    `subjectAltName=${names.join(",")}`,
  ]);
}

function runOpenssl(cwd: string, args: readonly string[]): void {
  try {
    execFileSync("openssl", ["req", ...args], { cwd, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const what = isMissing
      ? "openssl is not installed: apt-get install openssl"
      : `openssl 3.0 or later is needed: ${(cause as Error).message}`;
    throw new SignalboxError(EXIT.config, `cannot make certificates: ${what}`, { cause });
  }
}
