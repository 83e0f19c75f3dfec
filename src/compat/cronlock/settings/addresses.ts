import { ConfigError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import type { SourcedValue, ToolVariables } from "./variables.ts";

/** The default port of etcd. */
const ETCD_PORT = 2379;
/** The default port of Redis. A line with this port was not migrated yet. */
const REDIS_PORT = 6379;

const ADDRESS = /^(?:(https?):\/\/)?(\[[0-9A-Fa-f:.]+\]|[^:/\s]+)(?::(\d+))?\/?$/;

/**
 * Parses the addresses of etcd in CRONLOCK_HOST and CRONLOCK_PORT: hosts separated by commas or blanks, each with its
 * own port or the common one.
 * @returns undefined if neither is set: the signalbox configuration then names the endpoints
 * @throws ConfigError
 */
export function parseCronlockAddresses(variables: ToolVariables, usesTls: boolean): SourcedValue | undefined {
  const host = variables.get("CRONLOCK_HOST");
  const port = variables.getCount("CRONLOCK_PORT", ETCD_PORT, { least: 1, most: 65_535 });
  const source = host?.source ?? variables.get("CRONLOCK_PORT")?.source;
  if (source === undefined) return undefined;
  const hosts = (host?.value ?? "localhost").split(/[\s,]+/).filter((one) => one !== "");
  if (hosts.length === 0) throw new ConfigError(`${source}: no host is given`);
  return { value: hosts.map((one) => parseAddress(one, { port, usesTls, source })).join(","), source };
}

function parseAddress(
  text: string,
  { port, usesTls, source }: { port: number; usesTls: boolean; source: string },
): string {
  // An address with user and password holds a secret, which must not be repeated in the message.
  if (text.includes("@"))
    throw new ConfigError(
      `${source}: an address contains user and password (not shown here); use CRONLOCK_AUTH`,
    );
  const [, scheme = "http", name, own = String(port)] = ADDRESS.exec(text) ?? [];
  if (name === undefined)
    throw new ConfigError(
      `${source}: ${quoteText(text)} is not a host, such as etcd1.example.com, 192.0.2.7:2379 or [2001:db8::7]`,
    );
  return `${usesTls ? "https" : scheme}://${name}:${own}`;
}

/** Returns a hint for unreachable endpoints, if one has the port of Redis. */
export function findPortHint(endpoints: string): string | undefined {
  return endpoints.split(",").some((one) => one.endsWith(`:${REDIS_PORT}`))
    ? `port ${REDIS_PORT} is the port of Redis, etcd listens on ${ETCD_PORT}: set CRONLOCK_PORT`
    : undefined;
}
