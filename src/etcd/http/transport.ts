/** The lean transport: etcd's JSON gateway. On the start-up path of `run`, so it loads nothing but node:http. */
import http from "node:http";
import type { Credentials } from "../credentials.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Member } from "../member.ts";
import type { CheckedOptions, TlsOptions } from "../options.ts";
import type { ByteCodec } from "../wire.ts";
import type { Line } from "./exchange.ts";
import { HttpMember } from "./http-member.ts";

/** Idle connections are probed by the kernel after this many milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/** Zero bytes are left out of JSON, hence undefined. */
export const bytes: ByteCodec<string | undefined> = {
  fromKey: (key) => Buffer.from(key, "latin1").toString("base64"),
  fromText: (text) => Buffer.from(text, "utf8").toString("base64"),
  toKey: (base64) => Buffer.from(base64 ?? "", "base64").toString("latin1"),
  toText: (base64) => Buffer.from(base64 ?? "", "base64").toString("utf8"),
};

export async function openMembers(
  options: CheckedOptions,
  credentials: Credentials | undefined,
): Promise<Member[]> {
  const lines = options.parsed.map((endpoint) =>
    endpoint.secure ? secureLine(endpoint, options.tls) : plainLine(endpoint),
  );
  return (await Promise.all(lines)).map((line) => new HttpMember(line, credentials));
}

function plainLine({ url, host, port }: Endpoint): Line {
  const agent = new http.Agent({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS });
  return { url, request: http.request, agent, target: { host, port } };
}

async function secureLine({ url, host, port }: Endpoint, tls: TlsOptions = {}): Promise<Line> {
  const { default: https } = await import("node:https");
  const { ca, cert, key, serverName, insecureSkipVerify } = tls;
  const identity = { ca, cert, key, servername: serverName, rejectUnauthorized: !insecureSkipVerify };
  // What is undefined must be absent: node:tls takes an undefined servername for an empty one.
  const given = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
  const agent = new https.Agent({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, ...given });
  return { url, request: https.request, agent, target: { host, port, ...given } };
}
