import { type ProcessResult, startSignalbox } from "../../fixtures/signalbox.ts";
import { EXIT } from "../../src/core/base/errors.ts";
import { listDemoHosts } from "./hosts.ts";

/** Environment of the operators' host. It has the macros that the operators' commands use. */
export const OPERATOR_ENV = { SIGNALBOX_HOST: "ops1.example.com", SIGNALBOX_MACROS: "CORES=4,RAM=8192" };

type OperatorCommand = readonly [who: string, ...args: string[]];

/** Commands that configure groups and resources, in steps. `servers` contains other groups, so it comes later. */
const SETTINGS: readonly (readonly OperatorCommand[])[] = [
  [
    ["ann", "group", "set", "web", ...listDemoHosts("web"), "web5.example.com"], // a host without a record
    ["ann", "group", "set", "databases", ...listDemoHosts("db")],
    ["ann", "group", "set", "batch", ...listDemoHosts("batch")],
    ["carol", "group", "set", "mail", ...listDemoHosts("mail")],
    ["carol", "resource", "set", "db", "10", "--order", "1", "--note", "connections to the primary"],
    ["carol", "resource", "set", "smtp", "6", "--order", "2", "--note", "the provider allows six"],
    ["carol", "resource", "set", "s3-upload", "8", "--note", "streams, or the line is full"],
    ["bob", "resource", "set", "gpu", "1", "--order", "3", "--note", "in batch1's cellar"],
    ["bob", "resource", "set", "cad-licence", "2", "--note", "renewed each March"],
    ["bob", "resource", "set", "partner-api", "2", "--note", "rate limit"],
    ["bob", "resource", "set", "FQDN_cpu", "CORES", "--note", "processors"],
    ["bob", "resource", "set", "FQDN_mem", "RAM", "--note", "MiB"],
  ],
  [["ann", "group", "set", "servers", "web", "databases", "cache1.example.com"]],
];

/** Commands that drain parts of the site. */
const DRAINS: readonly (readonly OperatorCommand[])[] = [
  [
    ["ann", "drain", "group", "mail", "--reason", "kernel upgrade"],
    ["carol", "drain", "lock", "invoices", "--for", "2h", "--reason", "month-end closing"],
    ["bob", "drain", "lock", "dns-sync", "--for", "1s", "--reason", "zone transfer"], // an ended drain that nobody lifted
  ],
];

export const configureDemo = (endpoints: readonly string[]) => runInOrder(SETTINGS, endpoints);
export const drainSome = (endpoints: readonly string[]) => runInOrder(DRAINS, endpoints);

/** Runs the steps one after the other, and the commands of a step at the same time. @throws Error with the output of a failed command */
async function runInOrder(
  steps: readonly (readonly OperatorCommand[])[],
  endpoints: readonly string[],
): Promise<void> {
  for (const step of steps) await Promise.all(step.map((deed) => runOperatorCommand(deed, endpoints)));
}

/** Number of attempts, because etcd may answer slowly on a busy machine. */
const TRIES = 5;

async function runOperatorCommand(
  [who, ...args]: OperatorCommand,
  endpoints: readonly string[],
): Promise<ProcessResult> {
  const env = { ...OPERATOR_ENV, SUDO_USER: who, SIGNALBOX_CONNECT_TIMEOUT: "60s" };
  let ended = await startSignalbox([...args, "--yes"], { endpoints, env }).ended;
  for (let left = TRIES; ended.code === EXIT.unreachable && left > 1; left -= 1)
    ended = await startSignalbox([...args, "--yes"], { endpoints, env }).ended;
  if (ended.code !== 0) throw new Error(`signalbox ${args.join(" ")}: ${ended.code}: ${ended.stderr}`);
  return ended;
}
