import { UsageError } from "../base/errors.ts";
import { collectTexts, quoteText } from "../base/text.ts";
import { type GoFlagResult, type GoFlagSpec, isGoFlagOn, parseGoFlags } from "./go-flags.ts";
import type { LineTranslator } from "./translated-run.ts";

/** Options for the connection to Consul, which are dropped because etcd is used instead. */
const CONNECTION = [
  "http-addr",
  "token",
  "token-file",
  "ca-file",
  "ca-path",
  "client-cert",
  "client-key",
  "tls-server-name",
  "datacenter",
  "namespace",
  "partition",
];

/** @see https://developer.hashicorp.com/consul/commands/lock */
const OPTIONS: GoFlagSpec = {
  tool: "consul lock",
  options: {
    n: true,
    name: true,
    timeout: true,
    try: true,
    "monitor-retry": true,
    "child-exit-code": false,
    "pass-stdin": false,
    shell: false,
    verbose: false,
    stale: false,
    ...Object.fromEntries(CONNECTION.map((name) => [name, true])),
  },
};

/** Translates a line of `consul lock`. With `-n` above 1 it becomes a lease of a resource instead of a lock. */
export const translateConsul: LineTranslator = (words, variables) => {
  if (words[0] !== "lock") throw new UsageError("consul: only consul lock can be translated");
  const given = parseGoFlags(words.slice(1), OPTIONS);
  const [path = "", ...child] = given.rest;
  const name = path.replace(/^\//, "");
  if (name === "" || child.length === 0)
    throw new UsageError("consul lock: a prefix and a command are needed");
  const holders = parseHolders(given);
  return {
    options: [...buildClaimFlags(name, holders, parseWait(given)), "-E", "1", ...buildLabelFlag(given)],
    command: isGoFlagOn(given, "shell", true)
      ? [variables.get("SHELL") || "/bin/sh", "-c", child.join(" ")]
      : child,
    notes: buildNotes(given, holders),
  };
};

function buildClaimFlags(name: string, holders: number, wait: string | undefined): string[] {
  if (holders === 1) return ["--lock", name, wait === undefined ? "--wait" : `--wait=${wait}`];
  return [
    "--no-lock",
    "--lease",
    `${name}=1:${holders}`,
    ...(wait === undefined ? [] : ["--lease-timeout", wait]),
  ];
}

function parseHolders({ options }: GoFlagResult): number {
  const text = options.get("n") ?? "1";
  if (!/^0*[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`consul lock: -n ${quoteText(text)} is not a number of 1 or more`);
  return Number(text);
}

const UNITS = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** Converts a Go duration, such as `1m30s` or `1.5h`, to one of signalbox. */
function parseWait({ options }: GoFlagResult): string | undefined {
  const text = options.get("timeout") ?? options.get("try") ?? "0";
  if (text === "0") return undefined;
  if (!/^\+?(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(text))
    throw new UsageError(`consul lock: -timeout ${quoteText(text)} is not a duration such as 30s or 1h`);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const ms = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS],
    0,
  );
  if (ms === 0) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${Math.ceil(ms)}ms`;
}

function buildLabelFlag({ options }: GoFlagResult): string[] {
  const name = options.get("name");
  return name === undefined || name === "" ? [] : ["--label", name];
}

function buildNotes(given: GoFlagResult, holders: number): string[] {
  const left = [...CONNECTION, "monitor-retry", "verbose", "stale"].filter((key) => given.options.has(key));
  return collectTexts([
    isGoFlagOn(given, "child-exit-code")
      ? "the exit code is the command's own instead of 2"
      : "the exit code is the command's own; consul lock always ends with 0",
    "the command gets SIGNALBOX_LOCK_KEY instead of CONSUL_LOCK_HELD",
    holders > 1 &&
      `a semaphore becomes a lease of 1 of ${holders} units of a resource, first come, first served`,
    left.length > 0 &&
      `${left.map((key) => `-${key}`).join(", ")}: left out, since the lock is in etcd and not in Consul`,
  ]);
}
