import { UsageError } from "../base/errors.ts";
import { collectTexts, quoteText } from "../base/text.ts";
import { SETTINGS } from "../config/settings.ts";
import { computeSmallestTtl } from "../config/ttl.ts";
import type { LineTranslator } from "./translated-run.ts";

/** @see etcdctl's README, "LOCK" and "Global options" */
const ETCDCTL_OPTIONS: GoFlagSpec = {
  tool: "etcdctl",
  options: {
    ttl: true,
    endpoints: true,
    user: true,
    password: true,
    cacert: true,
    cert: true,
    key: true,
    "dial-timeout": true,
    "command-timeout": true,
    "keepalive-time": true,
    "keepalive-timeout": true,
    "discovery-srv": true,
    "discovery-srv-name": true,
    "auth-jwt-token": true,
    "write-out": true,
    w: true,
    "insecure-transport": false,
    "insecure-discovery": false,
    "insecure-skip-tls-verify": false,
    debug: false,
    hex: false,
    help: false,
    h: false,
    "max-request-bytes": true,
    "max-recv-bytes": true,
  },
  isInterspersed: true,
};
/** Options without a meaning for a lock. */
const ETCDCTL_IDLE = [
  "command-timeout",
  "keepalive-time",
  "keepalive-timeout",
  "write-out",
  "w",
  "debug",
  "hex",
];
const ETCDCTL_OURS = ["endpoints", "cacert", "cert", "key"] as const;

/** Translates a line of `etcdctl lock`. signalbox reads etcdctl's own variables (ETCDCTL_ENDPOINTS, …) unchanged. */
export const translateEtcdctl: LineTranslator = (words) => {
  const given = parseGoFlags(words, ETCDCTL_OPTIONS);
  const [verb, name, ...command] = given.rest;
  if (verb !== "lock") throw new UsageError("etcdctl: only etcdctl lock can be translated");
  if (name === undefined) throw new UsageError("etcdctl: no lock name is given");
  if (command.length === 0)
    throw new UsageError(
      "etcdctl: without a command, etcdctl holds the lock until it is ended; put the commands that need the lock after signalbox run",
    );
  refuseEtcdctlOptions(given);
  const { options } = given;
  const user = parseUser(given);
  return {
    options: [
      "--lock",
      name,
      "--wait",
      ...buildTtlFlag(options.get("ttl")),
      ...ETCDCTL_OURS.flatMap((key) => buildFlag(`--${key}`, options.get(key))),
      ...buildFlag("--connect-timeout", options.get("dial-timeout")),
      ...buildFlag("--user", user.name),
      ...(isGoFlagOn(given, "insecure-skip-tls-verify") ? ["--insecure-skip-tls-verify"] : []),
    ],
    ...(user.password !== undefined && { env: { SIGNALBOX_PASSWORD: user.password } }),
    command,
    notes: buildEtcdctlNotes(given, name),
  };
};

function refuseEtcdctlOptions({ options }: GoFlagResult): void {
  const other = ["discovery-srv", "discovery-srv-name", "insecure-discovery", "auth-jwt-token"].find((key) =>
    options.has(key),
  );
  if (other !== undefined)
    throw new UsageError(`etcdctl: --${other} has no counterpart; name etcd's members with --endpoints`);
  if (options.has("help") || options.has("h")) throw new UsageError("etcdctl: the line takes no lock");
}

/**
 * Builds the ttl flag from a number of seconds. The ttl must be longer than the termination timeout, so a smaller
 * value, such as etcdctl's default of 10, is raised to the minimum. Without `--ttl`, the default of signalbox
 * applies.
 */
function buildTtlFlag(text: string | undefined): string[] {
  if (text === undefined) return [];
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`etcdctl: --ttl ${quoteText(text)} is not a number of seconds`);
  const least = computeSmallestTtl(SETTINGS.terminationTimeout.default) / 1000;
  return ["--ttl", `${Math.max(least, Number(text))}s`];
}

function buildFlag(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}

function parseUser({ options }: GoFlagResult): { name?: string; password?: string } {
  const user = options.get("user");
  if (user === undefined) return {};
  const at = user.indexOf(":");
  const password = options.get("password") ?? (at < 0 ? undefined : user.slice(at + 1));
  const name = options.has("password") || at < 0 ? user : user.slice(0, at);
  return { name, ...(password !== undefined && { password }) };
}

function buildEtcdctlNotes({ options }: GoFlagResult, name: string): string[] {
  const idle = ETCDCTL_IDLE.filter((key) => options.has(key)).map((key) => `--${key}`);
  return [
    `the lock differs from etcdctl's: its keys begin with ${quoteText(name)}, those of signalbox with its prefix; old and new lines do not wait for each other`,
    "the command gets SIGNALBOX_LOCK_KEY and SIGNALBOX_TOKEN instead of ETCD_LOCK_KEY and ETCD_LOCK_REV, and it is ended when the lock is lost",
    ...(idle.length === 0 ? [] : [`${idle.join(", ")}: left out, since signalbox run has no equivalent`]),
  ];
}

/** Options for the connection to Consul, which are dropped because etcd is used instead. */
const CONSUL_CONNECTION = [
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
const CONSUL_OPTIONS: GoFlagSpec = {
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
    ...Object.fromEntries(CONSUL_CONNECTION.map((name) => [name, true])),
  },
};

/** Translates a line of `consul lock`. With `-n` above 1 it becomes a lease of a resource instead of a lock. */
export const translateConsul: LineTranslator = (words, variables) => {
  if (words[0] !== "lock") throw new UsageError("consul: only consul lock can be translated");
  const given = parseGoFlags(words.slice(1), CONSUL_OPTIONS);
  const [path = "", ...child] = given.rest;
  const name = path.replace(/^\//, "");
  if (name === "" || child.length === 0)
    throw new UsageError("consul lock: a prefix and a command are needed");
  const holders = parseHolders(given);
  return {
    options: [...buildConsulClaim(name, holders, parseWait(given)), "-E", "1", ...buildLabelFlag(given)],
    command: isGoFlagOn(given, "shell", true)
      ? [variables.get("SHELL") || "/bin/sh", "-c", child.join(" ")]
      : child,
    notes: buildConsulNotes(given, holders),
  };
};

function buildConsulClaim(name: string, holders: number, wait: string | undefined): string[] {
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

const GO_UNITS = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** Converts a Go duration, such as `1m30s` or `1.5h`, to one of signalbox. */
function parseWait({ options }: GoFlagResult): string | undefined {
  const text = options.get("timeout") ?? options.get("try") ?? "0";
  if (text === "0") return undefined;
  if (!/^\+?(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(text))
    throw new UsageError(`consul lock: -timeout ${quoteText(text)} is not a duration such as 30s or 1h`);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const ms = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * GO_UNITS[unit as keyof typeof GO_UNITS],
    0,
  );
  if (ms === 0) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${Math.ceil(ms)}ms`;
}

function buildLabelFlag({ options }: GoFlagResult): string[] {
  const name = options.get("name");
  return name === undefined || name === "" ? [] : ["--label", name];
}

function buildConsulNotes(given: GoFlagResult, holders: number): string[] {
  const left = [...CONSUL_CONNECTION, "monitor-retry", "verbose", "stale"].filter((key) =>
    given.options.has(key),
  );
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

/** The options of a program written in Go. */
interface GoFlagSpec {
  tool: string;
  /** By name without dashes; true: a value follows. */
  options: Readonly<Record<string, boolean>>;
  /** Options may follow other words, up to `--`. */
  isInterspersed?: true;
}

interface GoFlagResult {
  options: ReadonlyMap<string, string>;
  rest: readonly string[];
}

/**
 * Parses words like Go's flag packages: `-name value`, `--name=value`; a switch may have `=true` or `=false`.
 * @throws UsageError for an unknown option, and for a missing value
 */
function parseGoFlags(words: readonly string[], { tool, options, isInterspersed }: GoFlagSpec): GoFlagResult {
  const found = new Map<string, string>();
  const rest: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const isOption = word.startsWith("-") && word !== "-";
    if (word === "--" || (!isOption && isInterspersed !== true)) {
      rest.push(...(word === "--" ? [] : [word]), ...left);
      break;
    }
    if (!isOption) rest.push(word);
    else {
      const [, name = "", inline] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
      const takes = Object.hasOwn(options, name) ? options[name] : undefined;
      if (takes === undefined) throw new UsageError(`${tool}: unknown option ${quoteText(word)}`);
      const value = inline ?? (takes ? left.shift() : "true");
      if (value === undefined) throw new UsageError(`${tool}: -${name} needs a value`);
      found.set(name, value);
    }
  }
  return { options: found, rest };
}

/** Whether a switch is on. @throws UsageError if its value is neither true nor false */
function isGoFlagOn({ options }: GoFlagResult, name: string, standard = false): boolean {
  const value = options.get(name);
  if (value === undefined) return standard;
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
  throw new UsageError(`-${name}: ${quoteText(value)} is neither true nor false`);
}
