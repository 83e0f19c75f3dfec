import { type Ended, signalbox } from "../../fixtures/signalbox.ts";
import { hostsOf } from "./hosts.ts";

/** Where operators sit; what they say with macros has to make sense there. */
export const OPERATOR_ENV = { SIGNALBOX_HOST: "ops1.example.com", SIGNALBOX_MACROS: "CORES=4,RAM=8192" };

type Deed = readonly [who: string, ...args: string[]];

/** Groups of hosts and configured resources, as someone typed them once; the groups need no order, but `servers` is made of others. */
const SETTINGS: readonly (readonly Deed[])[] = [
  [
    ["ann", "group", "set", "web", ...hostsOf("web"), "web5.example.com"], // which nobody has ever seen
    ["ann", "group", "set", "databases", ...hostsOf("db")],
    ["ann", "group", "set", "batch", ...hostsOf("batch")],
    ["carol", "group", "set", "mail", ...hostsOf("mail")],
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
const DRAINS: readonly (readonly Deed[])[] = [
  [
    ["ann", "drain", "group", "mail", "--reason", "kernel upgrade"],
    ["carol", "drain", "lock", "invoices", "--for", "2h", "--reason", "month-end closing"],
    ["bob", "drain", "lock", "dns-sync", "--for", "1s", "--reason", "zone transfer"], // over soon, and forgotten
  ],
];

export const configure = (endpoints: readonly string[]) => inTurn(SETTINGS, endpoints);
export const closeSome = (endpoints: readonly string[]) => inTurn(DRAINS, endpoints);

/** What stands in one list is done at the same time. @throws Error with what a command said that failed */
async function inTurn(steps: readonly (readonly Deed[])[], endpoints: readonly string[]): Promise<void> {
  for (const step of steps) await Promise.all(step.map((deed) => done(deed, endpoints)));
}

async function done([who, ...args]: Deed, endpoints: readonly string[]): Promise<Ended> {
  const options = { endpoints, env: { ...OPERATOR_ENV, SUDO_USER: who } };
  const ended = await signalbox([...args, "--yes"], options).ended;
  if (ended.code !== 0) throw new Error(`signalbox ${args.join(" ")}: ${ended.code}: ${ended.stderr}`);
  return ended;
}
