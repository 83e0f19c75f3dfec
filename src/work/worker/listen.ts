import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";

/** Where the exporter listens by default; workers have 9464 in the examples. */
export const EXPORTER_LISTEN = "127.0.0.1:9465";

/** Where a server listens. */
export interface Address {
  /** Undefined: on every address of this host. */
  host: string | undefined;
  /** 0: one that is free. */
  port: number;
}

/**
 * `:9464` is every address, `9464` this host alone, `HOST:9464` and `[::1]:9464` that address.
 * @throws UsageError naming the value received
 */
export function parseListen(text: string): Address {
  const parts = /^(?:(?<host>[^\s:[\]]+|\[[\da-fA-F:.]+\])?(?<colon>:))?(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(parts?.port);
  if (parts === undefined || port > 65_535)
    throw new UsageError(`${quoted(text)} is no address to listen on; write :9464, 9464 or HOST:9464`);
  if (parts.colon === undefined) return { host: "127.0.0.1", port };
  return { host: parts.host?.replace(/^\[|\]$/g, ""), port };
}

/** As `parseListen` reads it. */
export function listenText({ host = "", port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
