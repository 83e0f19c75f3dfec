import { ConfigError } from "../base/errors.ts";

/** The client address of one etcd member. */
export interface Endpoint {
  /** The URL in messages: `http://host:2379`. */
  url: string;
  secure: boolean;
  /** A name or an address; IPv6 without brackets. */
  host: string;
  port: number;
}

const DEFAULT_PORT = 2379;

/**
 * Parses `host`, `host:2379`, `http://…`, `https://…`, `[::1]:2379`.
 * @param secure scheme of an endpoint without one: https when TLS is configured
 * @throws ConfigError that quotes the text
 */
export function parseEndpoint(text: string, secure: boolean): Endpoint {
  const trimmed = text.trim();
  const withScheme = trimmed.includes("://")
    ? trimmed
    : `${secure ? "https" : "http"}://${addBrackets(trimmed)}`;
  const url = URL.parse(withScheme);
  const proper = url && /^https?:$/.test(url.protocol) && url.hostname !== "" && url.username === "";
  if (!proper || url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    const example = "use host:2379, http://host:2379 or https://host:2379";
    throw new ConfigError(`${JSON.stringify(text)} is not an endpoint of etcd; ${example}`);
  }
  const port = url.port === "" ? parsePort(withScheme) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { url: `${url.protocol}//${url.hostname}:${port}`, secure: url.protocol === "https:", host, port };
}

/** Adds brackets to a bare IPv6 address. */
function addBrackets(text: string): string {
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) ? `[${text}]` : text;
}

/**
 * Reads the port from the text. URL drops a scheme's default port, which makes `http://host:80` and `http://host` look
 * the same.
 */
function parsePort(text: string): number {
  const written = /:(\d+)\/?$/.exec(text)?.[1];
  return written === undefined ? DEFAULT_PORT : Number(written);
}
