import { ConfigError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import type { Variable, Variables } from "./variables.ts";

/** Where etcd listens. */
const ETCD_PORT = 2379;
/** Where Redis does: a line that still names it was not changed yet. */
const REDIS_PORT = 6379;

const ADDRESS = /^(?:(https?):\/\/)?(\[[0-9A-Fa-f:.]+\]|[^:/\s]+)(?::(\d+))?\/?$/;

/**
 * Addresses of etcd by CRONLOCK_HOST and CRONLOCK_PORT: hosts with commas or blanks between, each with a port of its own
 * or the common one.
 * @returns undefined where neither is set: then the site's own configuration says where etcd is
 * @throws ConfigError
 */
export function addressesOf(variables: Variables, usesTls: boolean): Variable | undefined {
  const host = variables.get("CRONLOCK_HOST");
  const port = variables.count("CRONLOCK_PORT", ETCD_PORT, { least: 1, most: 65_535 });
  const source = host?.source ?? variables.get("CRONLOCK_PORT")?.source;
  if (source === undefined) return undefined;
  const hosts = (host?.value ?? "localhost").split(/[\s,]+/).filter((one) => one !== "");
  if (hosts.length === 0) throw new ConfigError(`${source}: no host is named`);
  return { value: hosts.map((one) => addressOf(one, { port, usesTls, source })).join(","), source };
}

function addressOf(
  text: string,
  { port, usesTls, source }: { port: number; usesTls: boolean; source: string },
): string {
  // An address may hold a password where a browser takes one: it must not be repeated.
  if (text.includes("@"))
    throw new ConfigError(
      `${source}: an address holds user and password (not shown here); use CRONLOCK_AUTH`,
    );
  const [, scheme = "http", name, own = String(port)] = ADDRESS.exec(text) ?? [];
  if (name === undefined)
    throw new ConfigError(
      `${source}: ${quoted(text)} is not a host, such as etcd1.example.com, 192.0.2.7:2379 or [2001:db8::7]`,
    );
  return `${usesTls ? "https" : scheme}://${name}:${own}`;
}

/** What to look at first when etcd is not there. */
export function portHint(endpoints: string): string | undefined {
  return endpoints.split(",").some((one) => one.endsWith(`:${REDIS_PORT}`))
    ? `port ${REDIS_PORT} is that of Redis, etcd listens on ${ETCD_PORT}: set CRONLOCK_PORT`
    : undefined;
}
