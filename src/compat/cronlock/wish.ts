import { ConfigError } from "../../base/errors.ts";
import { addressesOf } from "./addresses.ts";
import { argumentsHash, type Tool } from "./lock-name.ts";
import { type Login, loginOf } from "./login.ts";
import type { Variable, Variables } from "./variables.ts";

/** What a line of cronlock or golock asks for. Times in seconds. */
export interface Wish {
  tool: Tool;
  lock: string;
  command: readonly string[];
  /** The lock is kept at least so long. */
  grace: number;
  /** And at most so long. */
  release: number;
  /** 0: none. */
  timeout: number;
  /** How long etcd may be out of reach at the start. */
  patience: number;
  /** Undefined where the site's own configuration says where etcd is. */
  endpoints: Variable | undefined;
  usesTls: boolean;
  skipsVerification: boolean;
  login: Login | undefined;
  database: number;
  /** Take the lock away from whoever has it, run nothing. */
  resets: boolean;
  isVerbose: boolean;
  /** What of it has no effect, a sentence each. */
  notes: readonly string[];
  /** Where a variable stood, for errors. */
  sourceOf(name: string): string;
}

/** As good as for ever: settings know no longer time. In seconds. */
const TEN_YEARS = 3_650 * 86_400;

/**
 * A line of one of the tools, by its variables.
 * @throws ConfigError for a bad value, and for what only Redis can do
 */
export function wishOf(tool: Tool, words: readonly string[], variables: Variables): Wish {
  refuseForeign(variables);
  const usesTls = variables.truth("CRONLOCK_TLS");
  return {
    tool,
    lock: lockOf(tool, words, variables),
    command: words,
    grace: variables.count("CRONLOCK_GRACE", 40, { most: TEN_YEARS }),
    // At 0 the lock would be free within the second in which it was taken.
    release: Math.min(Math.max(variables.count("CRONLOCK_RELEASE", 86_400), 1), TEN_YEARS),
    timeout: Math.min(variables.count("CRONLOCK_TIMEOUT", 0), TEN_YEARS),
    patience: patienceOf(tool, variables),
    endpoints: addressesOf(variables, usesTls),
    usesTls,
    skipsVerification: variables.truth("CRONLOCK_TLS_SKIP_VERIFY"),
    login: loginOf(tool, variables),
    database: variables.count("CRONLOCK_DB", 0),
    resets: variables.isClearlyYes("CRONLOCK_RESET"), // whoever writes `true` wants nothing to be run
    isVerbose: variables.isYes("CRONLOCK_VERBOSE"),
    notes: notesOf(variables),
    sourceOf: (name) => variables.get(name)?.source ?? `default of ${name}`,
  };
}

/** Both tools use "cronlock." with a dot, whatever their documentation says; to golock an empty prefix is one. */
function lockOf(tool: Tool, words: readonly string[], variables: Variables): string {
  const key = variables.text("CRONLOCK_KEY") ?? argumentsHash(tool, words);
  const isBare = tool === "golock" && variables.isSet("CRONLOCK_PREFIX");
  return `${variables.text("CRONLOCK_PREFIX") ?? (isBare ? "" : "cronlock.")}${key}`;
}

/** As long as the tool would have tried, in seconds: cronlock waits longer each time, golock does not. */
function patienceOf(tool: Tool, variables: Variables): number {
  const old = variables.count("CRONLOCK_READ_TIMEOUT", 30); // its name in cronlock's documentation
  const answer = variables.count("CRONLOCK_REDIS_TIMEOUT", old);
  const attempts = variables.count("CRONLOCK_RECONNECT_ATTEMPTS", 5);
  const backoff = variables.count("CRONLOCK_RECONNECT_BACKOFF", 5);
  const pauses = tool === "golock" ? attempts : (attempts * (attempts - 1)) / 2;
  return Math.min(Math.max(answer, backoff * pauses), TEN_YEARS);
}

/** What only Redis has, and what would run a job where it must not run. */
function refuseForeign(variables: Variables): void {
  const sentinel = variables.get("CRONLOCK_USE_SENTINEL");
  if (sentinel?.value === "yes")
    throw new ConfigError(
      `${sentinel.source}: Sentinel is Redis's; etcd's members agree by themselves: leave it out, and name ` +
        "several of them in CRONLOCK_HOST, with commas between",
    );
  const address = variables.get("CRONLOCK_LOCAL_VIP");
  if (address !== undefined)
    throw new ConfigError(
      `${address.source}: jobs are not bound to an address here; name the hosts that may run them in a group ` +
        "(signalbox group set), and that in SIGNALBOX_GROUP",
    );
}

function notesOf(variables: Variables): string[] {
  return variables.isYes("CRONLOCK_NTPDATE")
    ? [
        "CRONLOCK_NTPDATE is ignored: the lock does not depend on this host's clock, and chrony or ntpd keep that right",
      ]
    : [];
}
