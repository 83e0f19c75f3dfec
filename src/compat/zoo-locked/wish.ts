import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";

/** A line of zoo-locked in our words: what the front end runs, and what `migrate crontab` writes. */
export interface ZooLockedWish {
  /** Addresses of etcd; undefined where HOSTS are ZooKeeper's: signalbox's own configuration must have them then. */
  endpoints: string | undefined;
  lock: string;
  /** A shell and its text. */
  command: readonly string[];
}

const USAGE = "zoo-locked HOSTS PATH COMMAND [ARG...]";
const ZOOKEEPER_PORT = "2181";

/** What a line comes to. @throws UsageError for words that zoo-locked could do nothing with */
export function wishOf(words: readonly string[]): ZooLockedWish {
  const [hosts, path, ...command] = words;
  if (hosts === undefined || path === undefined || command.length === 0)
    throw refused(`too few arguments: ${words.length}, at least 3 are needed; write: ${USAGE}`);
  const text = command.join(" ");
  if (text.trim() === "") throw refused(`the command is empty; write: ${USAGE}`);
  return {
    endpoints: endpointsOf(hosts),
    lock: lockOf(path),
    command: ["sh", "-c", text], // as popen does it
  };
}

/** What tells that HOSTS are ZooKeeper's, and what to do. */
export function zooKeeperHosts(hosts: string): UsageError {
  return refused(
    `HOSTS ${quoted(hosts)} are ZooKeeper's (port ${ZOOKEEPER_PORT}); name etcd's there, such as etcd1:2379,etcd2:2379,` +
      " or set SIGNALBOX_ENDPOINTS and leave the line as it is",
  );
}

function endpointsOf(hosts: string): string | undefined {
  const addresses = hosts.split(",").map((one) => one.trim());
  for (const address of addresses) {
    if (/\/./.test(address.replace(/^https?:\/\//, "")))
      throw refused(`HOSTS ${quoted(hosts)} end in a path, which etcd knows nothing of; put it before PATH`);
  }
  const ports = addresses.map((address) => address.slice(address.lastIndexOf(":") + 1));
  return ports.includes(ZOOKEEPER_PORT) ? undefined : hosts;
}

/** A path of ZooKeeper without its first slash. */
function lockOf(path: string): string {
  const wrong = (why: string) => refused(`PATH ${quoted(path)} cannot be used: ${why}, such as /locks/a`);
  if (!path.startsWith("/")) throw wrong("it must begin with a slash");
  const parts = path.slice(1).split("/");
  if (parts.includes("")) throw wrong("it needs a name between slashes, and none at its end");
  if (parts.includes(".") || parts.includes("..")) throw wrong("no part of it can be . or ..");
  return parts.join("/");
}

function refused(what: string): UsageError {
  return new UsageError(`zoo-locked: ${what}`);
}
