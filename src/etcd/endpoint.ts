import { ConfigError } from "../base/errors.ts";

/** Where one member of etcd listens for clients. */
export interface Endpoint {
  /** How it is named in messages: `http://host:2379`. */
  url: string;
  secure: boolean;
  /** A name or an address; IPv6 without brackets. */
  host: string;
  port: number;
}

const DEFAULT_PORT = 2379;

/**
 * Reads `host`, `host:2379`, `http://…`, `https://…`, `[::1]:2379`.
 * @param secure scheme of an endpoint that names none: TLS when TLS is configured
 * @throws ConfigError that quotes what was given
 */
export function parseEndpoint(text: string, secure: boolean): Endpoint {
  const trimmed = text.trim();
  const withScheme = trimmed.includes("://")
    ? trimmed
    : `${secure ? "https" : "http"}://${bracketed(trimmed)}`;
  const url = URL.parse(withScheme);
  const proper = url && /^https?:$/.test(url.protocol) && url.hostname !== "" && url.username === "";
  if (!proper || url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    const example = "use host:2379, http://host:2379 or https://host:2379";
    throw new ConfigError(`${JSON.stringify(text)} is no endpoint of etcd: ${example}`);
  }
  const port = url.port === "" ? implicitPort(withScheme) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { url: `${url.protocol}//${url.hostname}:${port}`, secure: url.protocol === "https:", host, port };
}

/** A bare IPv6 address gets its brackets. */
function bracketed(text: string): string {
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) ? `[${text}]` : text;
}

/** URL drops a port that is the scheme's own, so `http://host:80` must be told from `http://host`. */
function implicitPort(text: string): number {
  const written = /:(\d+)\/?$/.exec(text)?.[1];
  return written === undefined ? DEFAULT_PORT : Number(written);
}
