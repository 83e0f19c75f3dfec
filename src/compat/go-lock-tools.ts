import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { SETTINGS } from "../config/settings.ts";
import { computeSmallestTtl } from "../config/ttl.ts";
import { type GoFlagResult, type GoFlagSpec, isGoFlagOn, parseGoFlags } from "./go-flags.ts";
import type { LineTranslator } from "./translated-run.ts";

/** @see etcdctl's README, "LOCK" and "Global options" */
const OPTIONS: GoFlagSpec = {
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
const IDLE = ["command-timeout", "keepalive-time", "keepalive-timeout", "write-out", "w", "debug", "hex"];
const OURS = ["endpoints", "cacert", "cert", "key"] as const;

/** Translates a line of `etcdctl lock`. signalbox reads etcdctl's own variables (ETCDCTL_ENDPOINTS, …) unchanged. */
export const translateEtcdctl: LineTranslator = (words) => {
  const given = parseGoFlags(words, OPTIONS);
  const [verb, name, ...command] = given.rest;
  if (verb !== "lock") throw new UsageError("etcdctl: only etcdctl lock can be translated");
  if (name === undefined) throw new UsageError("etcdctl: no lock name is given");
  if (command.length === 0)
    throw new UsageError(
      "etcdctl: without a command, etcdctl holds the lock until it is ended; put the commands that need the lock after signalbox run",
    );
  refuseUnsupported(given);
  const { options } = given;
  const user = parseUser(given);
  return {
    options: [
      "--lock",
      name,
      "--wait",
      ...buildTtlFlag(options.get("ttl")),
      ...OURS.flatMap((key) => buildFlag(`--${key}`, options.get(key))),
      ...buildFlag("--connect-timeout", options.get("dial-timeout")),
      ...buildFlag("--user", user.name),
      ...(isGoFlagOn(given, "insecure-skip-tls-verify") ? ["--insecure-skip-tls-verify"] : []),
    ],
    ...(user.password !== undefined && { env: { SIGNALBOX_PASSWORD: user.password } }),
    command,
    notes: buildNotes(given, name),
  };
};

function refuseUnsupported({ options }: GoFlagResult): void {
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

function buildNotes({ options }: GoFlagResult, name: string): string[] {
  const idle = IDLE.filter((key) => options.has(key)).map((key) => `--${key}`);
  return [
    `the lock differs from etcdctl's: its keys begin with ${quoteText(name)}, those of signalbox with its prefix; old and new lines do not wait for each other`,
    "the command gets SIGNALBOX_LOCK_KEY and SIGNALBOX_TOKEN instead of ETCD_LOCK_KEY and ETCD_LOCK_REV, and it is ended when the lock is lost",
    ...(idle.length === 0 ? [] : [`${idle.join(", ")}: left out, since signalbox run has no equivalent`]),
  ];
}
