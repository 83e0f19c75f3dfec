import { type ProcessResult, startSignalbox } from "../../fixtures/signalbox.ts";
import { EXIT } from "../../src/base/errors.ts";
import { listDemoHosts } from "./hosts.ts";

/** Where operators sit; what they say with macros has to make sense there. */
export const OPERATOR_ENV = { SIGNALBOX_HOST: "ops1.example.com", SIGNALBOX_MACROS: "CORES=4,RAM=8192" };

type OperatorCommand = readonly [who: string, ...args: string[]];

/** Groups of hosts and configured resources, as someone typed them once; the groups need no order, but `servers` is made of others. */
const SETTINGS: readonly (readonly OperatorCommand[])[] = [
  [
    ["ann", "group", "set", "web", ...listDemoHosts("web"), "web5.example.com"], // which nobody has ever seen
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

/** What is closed while the site is at work. */
const DRAINS: readonly (readonly OperatorCommand[])[] = [
  [
    ["ann", "drain", "group", "mail", "--reason", "kernel upgrade"],
    ["carol", "drain", "lock", "invoices", "--for", "2h", "--reason", "month-end closing"],
    ["bob", "drain", "lock", "dns-sync", "--for", "1s", "--reason", "zone transfer"], // over soon, and forgotten
  ],
];

export const configureDemo = (endpoints: readonly string[]) => runInOrder(SETTINGS, endpoints);
export const drainSome = (endpoints: readonly string[]) => runInOrder(DRAINS, endpoints);

/** What stands in one list is done at the same time. @throws Error with what a command said that failed */
async function runInOrder(
  steps: readonly (readonly OperatorCommand[])[],
  endpoints: readonly string[],
): Promise<void> {
  for (const step of steps) await Promise.all(step.map((deed) => runOperatorCommand(deed, endpoints)));
}

/** On a busy machine etcd may answer late: then it is tried again so often. */
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
