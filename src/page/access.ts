import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { UsageError } from "../core/base/errors.ts";
import { quoteText } from "../core/base/text.ts";
import { readFileWithMode, readSecretLine } from "../core/config/files.ts";
import { formatListenAddress, type ListenAddress } from "../worker/metrics/listen-address.ts";
import type { ServeFlags } from "./serve.ts";

/** Why a request is not answered. */
export interface Denial {
  status: 400 | 401 | 403 | 405 | 421;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

/** Decides who may read the page. */
export type Access = (request: IncomingMessage) => Denial | undefined;

/** Shortest token, in characters: it must not be possible to guess it. */
const MIN_TOKEN_CHARACTERS = 16;

/** What is known of this host. */
interface HostContext {
  address: ListenAddress;
  /** Its names. */
  names: readonly string[];
  /** The folder in which systemd passes secrets. */
  credentials: string | undefined;
}

/**
 * Creates what decides who may read the page: everyone who can connect on loopback addresses, and with `--open`; otherwise who has
 * the token, or comes through the trusted proxy with its header.
 * @throws UsageError, ConfigError
 */
export function createAccess(flags: ServeFlags, { address, names, credentials }: HostContext): Access {
  const { open, "token-file": tokenFile, "trusted-header": header, "trusted-proxy": proxies = [] } = flags;
  if ((header === undefined) !== (proxies.length === 0))
    throw new UsageError("--trusted-header and --trusted-proxy must be given together");
  const isGuarded = tokenFile !== undefined || header !== undefined;
  if (open && isGuarded) throw new UsageError("give --open, or who may read the page, not both");
  if (!open && !isGuarded && !isLoopback(address.host))
    throw new UsageError(
      `${formatListenAddress(address)} can be reached from other hosts: give --token-file, --trusted-header with --trusted-proxy, or --open`,
    );
  const known = new Set(
    ["localhost", ...names, ...(flags["host-name"] ?? [])].map((name) => name.toLowerCase()),
  );
  const ways = [
    ...(tokenFile === undefined ? [] : [createTokenCheck(tokenFile, credentials)]),
    ...(header === undefined ? [] : [createProxyCheck(header, parseProxies(proxies))]),
  ];
  return (request) => {
    const denial = checkHost(request, known);
    if (denial !== undefined) return denial;
    if (ways.length === 0 || ways.some((isAllowed) => isAllowed(request))) return checkMethod(request);
    return tokenFile === undefined
      ? { status: 403, message: "the page is served through its proxy only" }
      : { status: 401, message: "the token is missing or wrong", headers: PASSWORD_DEMAND };
  };
}

const PASSWORD_DEMAND = { "www-authenticate": 'Basic realm="signalbox", charset="UTF-8"' };

/** A body that nobody reads ends the connection. */
function checkMethod({ method }: IncomingMessage): Denial | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  return {
    status: 405,
    message: "only GET and HEAD",
    headers: { allow: "GET, HEAD", connection: "close" },
  };
}

function isLoopback(host: string | undefined): boolean {
  return (
    host === "localhost" ||
    host === "::1" ||
    (host !== undefined && isIP(host) === 4 && host.startsWith("127."))
  );
}

/**
 * Refuses names that are not this host's: a page of somebody else, whose name leads to this address, could read the answer in the
 * browser of a user (DNS rebinding). An address cannot be such a name.
 */
function checkHost({ headers, url }: IncomingMessage, names: ReadonlySet<string>): Denial | undefined {
  const host = /^(?<name>\[[^\]]+\]|[^:]+)(?::\d+)?$/.exec(headers.host ?? "")?.groups?.name?.toLowerCase();
  if (host === undefined || !url?.startsWith("/"))
    return { status: 400, message: "the header Host is missing or wrong" };
  if (names.has(host.replace(/\.$/, "")) || isIP(host.replace(/^\[|\]$/g, "")) !== 0) return undefined;
  return {
    status: 421,
    message: `this is not ${quoteText(host)}; if it is, start signalbox serve with --host-name`,
  };
}

/** Reads the token when the page starts. @throws ConfigError, UsageError */
function createTokenCheck(
  file: string,
  credentials: string | undefined,
): (request: IncomingMessage) => boolean {
  const token = readSecretLine(file, readFileWithMode, {
    named: "as --token-file",
    what: "the token",
    isGuarded: credentials !== undefined && file.startsWith(`${credentials}/`), // systemd says who may read it
  });
  if (token.length < MIN_TOKEN_CHARACTERS)
    throw new UsageError(
      `the token must have at least ${MIN_TOKEN_CHARACTERS} characters; got ${token.length}`,
    );
  const expected = digest(token);
  return ({ headers }) => timingSafeEqual(digest(readToken(headers.authorization)), expected);
}

/** Digests have one length, so that their comparison takes one time. */
function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Reads a bearer token, or the password that a browser has asked for. */
function readToken(authorization = ""): string {
  const [, scheme = "", value = ""] = /^(basic|bearer) +(.*)$/is.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  return Buffer.from(value, "base64")
    .toString()
    .replace(/^[^:]*:/s, "");
}

/** @throws UsageError */
function parseProxies(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    if (family === 0 || Number(bits ?? most) > most)
      throw new UsageError(
        `--trusted-proxy must be an address or a network such as 10.0.0.0/8; got ${quoteText(text)}`,
      );
    list.addSubnet(address, Number(bits ?? most), `ipv${family as 4 | 6}`);
  }
  return list;
}

/** The address is that of the connection: everyone can write a header that states another one. */
function createProxyCheck(header: string, proxies: BlockList): (request: IncomingMessage) => boolean {
  return ({ headers, socket: { remoteAddress = "" } }) => {
    const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, "");
    const family = isIP(address);
    return (
      Boolean(headers[header.toLowerCase()]) &&
      family !== 0 &&
      proxies.check(address, `ipv${family as 4 | 6}`)
    );
  };
}
