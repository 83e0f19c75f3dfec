/**
 * The lightweight transport: etcd's JSON gateway. It is on the start-up path of `run`, so it loads nothing but
 * node:net.
 */

import { connect, isIP, type Socket } from "node:net";
import { listenForAbort } from "../../base/clock.ts";
import {
  type Advice,
  createSocketError,
  createStatusError,
  type Member,
  MemberError,
  type Rpc,
  type WatchStream,
} from "../member.ts";
import type { CheckedOptions, Endpoint, TlsOptions } from "../options.ts";
import type { ByteCodec } from "../wire-codec.ts";
import { BODY_MAX, ConnectionPool, HttpFault, type HttpResponse, HttpResponseReader } from "./connection.ts";

/** JSON omits empty byte fields, hence undefined. */
export const bytes: ByteCodec<string | undefined> = {
  fromKey: (key) => Buffer.from(key, "latin1").toString("base64"),
  fromText: (text) => Buffer.from(text, "utf8").toString("base64"),
  toKey: (base64) => Buffer.from(base64 ?? "", "base64").toString("latin1"),
  toText: (base64) => Buffer.from(base64 ?? "", "base64").toString("utf8"),
};

export async function openMembers(options: CheckedOptions): Promise<Member[]> {
  const isSecure = options.parsed.some(({ secure }) => secure);
  const createSecureDialer = isSecure ? await loadSecureDialer(options.tls) : createPlainDialer;
  return options.parsed.map((endpoint) => {
    const dial = endpoint.secure ? createSecureDialer(endpoint) : createPlainDialer(endpoint);
    return createHttpMember({ url: endpoint.url, pool: new ConnectionPool(dial) });
  });
}

/** Idle time before the kernel sends keep-alive probes, ms. */
const KEEP_ALIVE_MS = 10_000;

/** Opens a connection. Data written before it is established is queued. */
type Dialer = () => Socket;

function createPlainDialer({ host, port }: Endpoint): Dialer {
  return () => tuneSocket(connect({ host, port }));
}

/**
 * Returns a function that builds dialers for TLS. Loads node:tls on demand, because that takes half the time of a run.
 * @throws ConfigError for bad certificates
 */
async function loadSecureDialer(options: TlsOptions = {}): Promise<(endpoint: Endpoint) => Dialer> {
  const [tls, { CertificateSource }] = await Promise.all([import("node:tls"), import("../tls.ts")]);
  const source = new CertificateSource(options);
  return ({ host, port }) => {
    const { serverName = isIP(host) === 0 ? host : undefined, insecureSkipVerify } = options;
    const target = {
      host,
      port,
      rejectUnauthorized: !insecureSkipVerify,
      ALPNProtocols: ["http/1.1"],
      // Omit the name when it is undefined: node:tls treats an undefined servername as an empty one.
      ...(serverName !== undefined && { servername: serverName }),
    };
    return () => tuneSocket(tls.connect({ ...target, secureContext: source.readLatest().context }));
  };
}

function tuneSocket<S extends Socket>(socket: S): S {
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}

const PATHS: Record<Rpc, string> = {
  authenticate: "/v3/auth/authenticate",
  grant: "/v3/lease/grant",
  renew: "/v3/lease/keepalive",
  remaining: "/v3/lease/timetolive",
  leases: "/v3/lease/leases",
  revoke: "/v3/lease/revoke",
  range: "/v3/kv/range",
  txn: "/v3/kv/txn",
  status: "/v3/maintenance/status",
  roster: "/v3/cluster/member/list",
  users: "/v3/auth/user/list",
  user: "/v3/auth/user/get",
  roles: "/v3/auth/role/list",
  role: "/v3/auth/role/get",
};

/** Creates a member that is reached over its JSON gateway. */
function createHttpMember(target: GatewayTarget): Member {
  return {
    endpoint: target.url,
    async call(rpc, request, { signal, fresh, token }) {
      if (fresh) target.pool.dropIdle();
      const answer = await postRequest(target, PATHS[rpc], JSON.stringify(request), token, signal);
      return unwrapResponse(target, answer);
    },
    openWatchStream: async (signal, token) => openGatewayStream(target, token, signal),
    close: () => target.pool.close(),
  };
}

const LINE_FEED = 10;

/**
 * Opens a stream for watches over the gateway: one POST whose body stays open for requests, and whose response streams
 * JSON with one object per line. Both directions at once work only with `Connection: close`. Otherwise etcd's HTTP
 * server discards the rest of the body when it starts to respond, including every create request but the first few.
 */
function openGatewayStream(
  target: GatewayTarget,
  token: string | undefined,
  signal: AbortSignal,
): WatchStream {
  const opening = formatRequestHead(
    target,
    "/v3/watch",
    token,
    "transfer-encoding: chunked",
    "connection: close",
  );
  const socket = target.pool.dial();
  socket.on("error", () => {}); // the reader receives it too, but there may be none
  listenForAbort(signal, () => socket.destroy());
  if (!signal.aborted) socket.write(opening);
  return {
    send: (message) => {
      if (socket.writable) socket.write(encodeChunk(`${JSON.stringify(message)}\n`));
    },
    responses: readResponses(target, socket, signal),
  };
}

function encodeChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

async function* readResponses(
  target: GatewayTarget,
  socket: Socket,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  const reader = new HttpResponseReader();
  try {
    for await (const text of readLines(reader, socket)) {
      if (reader.status !== 200) unwrapResponse(target, { status: reader.status, text });
      yield unwrapStreamLine(target, JSON.parse(text));
    }
    if (reader.status !== 200) unwrapResponse(target, { status: reader.status, text: "" });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && error.name === "StoreError"
      ? error
      : createSocketError(target.url, error);
  } finally {
    socket.destroy();
  }
}

/**
 * Yields the lines of a response across chunk boundaries, including a last line without a line feed.
 * @throws HttpFault
 */
async function* readLines(reader: HttpResponseReader, socket: Socket): AsyncGenerator<string, void> {
  let parts: Buffer[] = []; // joined before they are decoded: a chunk boundary may split a character
  let length = 0;
  const append = (part: Buffer) => {
    length += part.length;
    if (length > BODY_MAX) throw new HttpFault("EBADHTTP", "a line of the watch is too long");
    parts.push(part);
  };
  const takeLine = () => {
    const line = Buffer.concat(parts).toString();
    parts = [];
    length = 0;
    return line;
  };
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    for (let rest of reader.consume(bytes)) {
      for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
        append(rest.subarray(0, at));
        rest = rest.subarray(at + 1);
        yield takeLine();
      }
      append(rest);
    }
    if (reader.isDone) break;
  }
  if (!reader.isDone) reader.end();
  const last = takeLine();
  if (last !== "") yield last;
}

/** The URL and connections of one member. */
interface GatewayTarget {
  url: string;
  pool: ConnectionPool;
}

/**
 * Sends one POST and reads the complete response.
 * @throws MemberError when the connection fails; soon after the signal is aborted
 */
async function postRequest(
  target: GatewayTarget,
  path: string,
  body: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  try {
    return await target.pool.request(`${formatRequestHead(target, path, token, length)}${body}`, signal);
  } catch (error) {
    throw createSocketError(target.url, error);
  }
}

/**
 * Formats the head of a POST.
 * @param more  further header fields
 * @throws MemberError for a token with characters that a header cannot contain
 */
function formatRequestHead(
  target: GatewayTarget,
  path: string,
  token: string | undefined,
  ...more: string[]
): string {
  if (token !== undefined && /[^\x20-\x7e]/.test(token)) {
    throw new MemberError(
      "unauthenticated",
      "final",
      `${target.url} returned a token that cannot be sent in a header`,
    );
  }
  const authority = target.url.slice(target.url.indexOf("//") + 2);
  const identity = token === undefined ? [] : [`authorization: ${token}`];
  const fields = [`host: ${authority}`, "content-type: application/json", ...identity, ...more];
  return `POST ${path} HTTP/1.1\r\n${fields.join("\r\n")}\r\n\r\n`;
}

/** The gateway's error: flat in plain responses, under `error` in streams. */
interface GatewayError {
  code?: number;
  grpc_code?: number;
  message?: string;
  error?: string | GatewayError;
}

/** Returns the content of a response. @throws MemberError for an error response */
function unwrapResponse(target: GatewayTarget, { status, text }: HttpResponse): unknown {
  const parsed = parseObject(text);
  if (status !== 200 || parsed === undefined) throw toMemberError(target, status, parsed, text);
  const answer = unwrapStreamLine(target, parsed);
  if (typeof answer === "object" && answer !== null && "header" in answer) return answer;
  throw createNotEtcdError(target, "elsewhere", JSON.stringify(text.slice(0, 80)));
}

/**
 * Returns the content of one object of a stream: `{result}` or `{error}`. Plain responses are returned unchanged.
 * @throws MemberError
 */
function unwrapStreamLine(target: GatewayTarget, parsed: object): unknown {
  if ("error" in parsed) throw toMemberError(target, 200, parsed as GatewayError, "");
  return "result" in parsed ? parsed.result : parsed;
}

function toMemberError(
  target: GatewayTarget,
  status: number,
  parsed: GatewayError | undefined,
  text: string,
): MemberError {
  const error = typeof parsed?.error === "object" ? parsed.error : parsed;
  const code = error?.code ?? error?.grpc_code;
  if (code !== undefined) return createStatusError(target.url, code, error?.message ?? "unknown error");
  if (status === 404) {
    const advice = "it is not etcd's client address, or its JSON gateway is off (then use transport grpc)";
    return new MemberError("notEtcd", "elsewhere", `${target.url} answers 404 Not Found: ${advice}`);
  }
  if (status === 400 && text.includes("HTTPS server")) {
    return new MemberError("unavailable", "elsewhere", `${target.url} speaks TLS: use https://`);
  }
  if (status === 400 && text.includes("CommonName")) {
    const advice =
      "etcd does not identify users by certificate here; use transport grpc, or a user and password";
    return new MemberError("unauthenticated", "final", `${target.url}: ${advice}`);
  }
  const start = JSON.stringify(text.slice(0, 80));
  // A proxy's 502 or 503 is temporary; 300 to 499 are permanent, and 501 of a server that knows no POST.
  const advice = (status >= 300 && status < 500) || status === 501 ? "elsewhere" : "retry";
  return createNotEtcdError(target, advice, `status ${status}, ${start}`);
}

/** Builds the error for a server that does not speak etcd's protocol. */
function createNotEtcdError(target: GatewayTarget, advice: Advice, answer: string): MemberError {
  const text = `${target.url} does not answer as etcd does: ${answer}; check the address and port`;
  return new MemberError(advice === "elsewhere" ? "notEtcd" : "unavailable", advice, text);
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
