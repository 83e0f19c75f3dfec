import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, SignalboxError, UsageError } from "../../../base/errors.ts";
import { quoteShellWord } from "../../../base/shell.ts";
import { quoteText } from "../../../base/text.ts";
import { resolveConfig } from "../../../config/config.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import type { CommandExecutor } from "../../spec.ts";
import { makeCertificates } from "./certificates.ts";
import { RUNNER } from "./cluster-plan.ts";
import { buildHostScript } from "./host-script.ts";
import { buildUsersScript, ETCD_USERS } from "./users-script.ts";

/** What names of hosts consist of. They become parts of scripts and names of files. */
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

export const execute: CommandExecutor = async (call, io) => {
  const hosts = call.args;
  requireDistinctHosts(hosts);
  const { prefix } = resolveConfig({ flags: call.settings, env: io.env }).values;
  const folder = getTextFlag(call, "to") ?? "signalbox-etcd";
  makeFolder(folder);
  try {
    writeFiles(folder, hosts, prefix);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  if (hosts.length % 2 === 0)
    io.writeMessage(`note: ${hosts.length} members survive no more losses than ${hosts.length - 1} do`);
  io.writeOutput(describeSteps(folder, hosts));
  return EXIT.ok;
};

/** @throws UsageError */
function requireDistinctHosts(hosts: readonly string[]): void {
  for (const [index, host] of hosts.entries()) {
    if (!HOST.test(host) || host === "users") {
      const what = "a name of letters, digits, dots and dashes, or an IPv4 address, and not users";
      throw new UsageError(`HOST must be ${what}; got ${quoteText(host)}`);
    }
    if (hosts.indexOf(host) !== index) throw new UsageError(`${quoteText(host)} is given twice`);
  }
}

/** @throws SignalboxError 74 if it exists or cannot be made */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const what = isThere ? "it exists, and its keys may be in use; see --to" : (cause as Error).message;
    throw new SignalboxError(EXIT.io, `cannot make the folder ${quoteText(folder)}: ${what}`, { cause });
  }
}

function writeFiles(folder: string, hosts: readonly string[], prefix: string): void {
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
    runnerPassword: read(`${RUNNER}.password`).trim(),
  };
  for (const host of hosts) write(`${host}.sh`, buildHostScript(plan, host));
  write("users.sh", buildUsersScript(plan));
}

function describeSteps(folder: string, hosts: readonly string[]): string {
  const word = quoteShellWord(folder);
  const steps = [...hosts.map((host) => `ssh ${host} sh < ${word}/${host}.sh`), `sh ${word}/users.sh`];
  return `${word} has all that a new etcd needs, with secrets. As root:\n${steps.map((step) => `  ${step}\n`).join("")}`;
}
