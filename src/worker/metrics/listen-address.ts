import { UsageError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";

export interface ListenAddress {
  /** Undefined: all addresses of this host. */
  host: string | undefined;
  /** 0: any free port. */
  port: number;
}

/**
 * Parses an address: `:9464` means all addresses, `9464` only localhost, `HOST:9464` and `[::1]:9464` that address.
 * @throws UsageError naming the value received
 */
export function parseListenAddress(text: string): ListenAddress {
  const parts = /^(?:(?<host>[^\s:[\]]+|\[[\da-fA-F:.]+\])?(?<colon>:))?(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(parts?.port);
  if (parts === undefined || port > 65_535)
    throw new UsageError(`${quoteText(text)} is not an address to listen on; write :9464, 9464 or HOST:9464`);
  if (parts.colon === undefined) return { host: "127.0.0.1", port };
  return { host: parts.host?.replace(/^\[|\]$/g, ""), port };
}

export function formatListenAddress({ host = "", port }: ListenAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
