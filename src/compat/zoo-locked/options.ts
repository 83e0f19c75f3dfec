import { UsageError } from "../../core/base/errors.ts";
import { collectTexts, quoteText } from "../../core/base/text.ts";
import type { LineTranslator } from "../front-end.ts";

/** A line of zoo-locked in terms of signalbox, for the front end and for `migrate crontab`. */
export interface ZooLockedOptions {
  /**
   * Addresses of etcd; undefined if HOSTS are those of ZooKeeper: the signalbox configuration must then name the
   * endpoints.
   */
  endpoints: string | undefined;
  lock: string;
  /** A shell and its text: the first word of the command. */
  command: readonly string[];
  /** The words after it, which zoo-locked has always ignored. */
  ignored: readonly string[];
}

const USAGE = "zoo-locked HOSTS PATH COMMAND, with the command in quotes";
const ZOOKEEPER_PORT = "2181";

/** Parses a line. @throws UsageError for words that zoo-locked could not use */
export function parseZooLockedOptions(words: readonly string[]): ZooLockedOptions {
  const [hosts, path, text, ...ignored] = words;
  if (hosts === undefined || path === undefined || text === undefined)
    throw createUsageError(`too few arguments: ${words.length}, at least 3 are needed; write: ${USAGE}`);
  if (text.trim() === "") throw createUsageError(`the command is empty; write: ${USAGE}`);
  return {
    endpoints: parseEndpoints(hosts),
    lock: parseLockName(path),
    command: ["sh", "-c", text], // like popen
    ignored,
  };
}

/** Formats the warning about words after the command. */
export function formatIgnoredWords({ command, ignored }: ZooLockedOptions): string | undefined {
  if (ignored.length === 0) return undefined;
  return (
    `only ${quoteText(command[2] ?? "")} is run: zoo-locked ignores the words after the command` +
    ` (${ignored.map((word) => quoteText(word)).join(" ")}); put the whole command in quotes, or remove them`
  );
}

/** Creates the error for HOSTS that are those of ZooKeeper, with the remedy. */
export function createZooKeeperHostsError(hosts: string): UsageError {
  return createUsageError(
    `HOSTS ${quoteText(hosts)} are those of ZooKeeper (port ${ZOOKEEPER_PORT}); give those of etcd, such as etcd1:2379,etcd2:2379,` +
      " or set SIGNALBOX_ENDPOINTS and keep the line",
  );
}

function parseEndpoints(hosts: string): string | undefined {
  const addresses = hosts.split(",").map((one) => one.trim());
  for (const address of addresses) {
    if (/\/./.test(address.replace(/^https?:\/\//, "")))
      throw createUsageError(
        `HOSTS ${quoteText(hosts)} end in a path, which etcd does not have; put the path before PATH`,
      );
  }
  const ports = addresses.map((address) => address.slice(address.lastIndexOf(":") + 1));
  return ports.includes(ZOOKEEPER_PORT) ? undefined : hosts;
}

/** Returns the lock name: a ZooKeeper path without its first slash. */
function parseLockName(path: string): string {
  const createPathError = (why: string) =>
    createUsageError(`PATH ${quoteText(path)} cannot be used: ${why}, such as /locks/a`);
  if (!path.startsWith("/")) throw createPathError("it must begin with a slash");
  const parts = path.slice(1).split("/");
  if (parts.includes("")) throw createPathError("it needs a name between slashes, and no slash at its end");
  if (parts.includes(".") || parts.includes("..")) throw createPathError("no part of it can be . or ..");
  return parts.join("/");
}

function createUsageError(what: string): UsageError {
  return new UsageError(`zoo-locked: ${what}`);
}

/** Translates a line of zoo-locked to `signalbox run`. @throws UsageError if the front end would refuse it */
export const translateZooLocked: LineTranslator = (words) => {
  const parsed = parseZooLockedOptions(words);
  const { endpoints, lock, command } = parsed;
  return {
    options: ["-E", "0", "--lock", lock, ...(endpoints === undefined ? [] : ["--endpoints", endpoints])],
    command,
    notes: collectTexts([
      formatIgnoredWords(parsed),
      "nothing is printed if the lock is taken (before: LOCKED by ...)",
      endpoints === undefined && "signalbox's own configuration must say where etcd is",
    ]),
    coversChildren: true, // zoo-locked reads the command's output until all writers have closed it
  };
};
