import { StoreError, type StoreErrorKind } from "./store.ts";

/** The etcd calls that the store port needs. */
export type Rpc =
  | "authenticate"
  | "grant"
  | "renew"
  | "remaining"
  | "leases"
  | "revoke"
  | "range"
  | "txn"
  | "status"
  | "roster"
  | "users"
  | "user"
  | "roles"
  | "role";

/**
 * The narrower port behind the store port: one cluster member over one transport. wire-codec.ts builds the requests.
 */
export interface Member {
  /** URL, for messages. */
  readonly endpoint: string;
  /**
   * Makes one attempt of one call, without retries.
   * @param options.fresh do not reuse a connection: an open one may be dead without an error
   * @param options.token token of a login; also for watches
   * @throws MemberError; soon after the signal is aborted, any error
   */
  call(rpc: Rpc, request: object, options: AttemptOptions): Promise<unknown>;
  /** Opens a stream for watches. Watching starts only with a create request. Ends when the signal is aborted. */
  openWatchStream(signal: AbortSignal, token?: string): Promise<WatchStream>;
  close(): void;
}

export interface AttemptOptions {
  signal: AbortSignal;
  fresh: boolean;
  token?: string | undefined;
}

export interface WatchStream {
  /** Sends a watch request. Does nothing on a stream that has ended. */
  send(request: object): void;
  /** @throws MemberError, or the signal's reason */
  responses: AsyncIterator<unknown>;
}

/**
 * How failover handles a failed attempt: `retry` on any member; `elsewhere` only (this member will not recover within
 * the call); `relogin` (the token is stale); or `final` (every member would return the same error).
 */
export type Advice = "retry" | "elsewhere" | "relogin" | "final";

/** A StoreError from one member, with advice for failover. */
export class MemberError extends StoreError {
  readonly advice: Advice;

  constructor(kind: StoreErrorKind, advice: Advice, message: string, options?: { cause?: unknown }) {
    super(kind, message, options);
    this.advice = advice;
  }
}

/**
 * Builds the error of a call that failed on several members.
 * @param kind  by default the one that all have, else `unavailable`
 */
export function joinErrors(causes: readonly StoreError[], kind?: StoreErrorKind): StoreError {
  const [first] = causes;
  const isSame = causes.every((cause) => cause.kind === first?.kind);
  const text = [...new Set(causes.map(({ message }) => message))].join("; ");
  const cause = new AggregateError(causes);
  return new StoreError(kind ?? (first && isSame ? first.kind : "unavailable"), text, { cause });
}

type Classification = [StoreErrorKind, Advice];

const RETRY_FAULT: Classification = ["unavailable", "retry"];
const INVALID_FAULT: Classification = ["invalid", "final"];
/** Another server, or an etcd that is too old and does not have the called method. */
const FOREIGN_FAULT: Classification = ["notEtcd", "elsewhere"];
const FOREIGN_HINT = "; is that etcd 3.4 or later? Check the address and port";

/**
 * Distinguishes the errors for which etcd uses the same gRPC code. The message is the only difference in the response.
 * The texts come from etcd's api/v3rpc/rpctypes/error.go, unchanged since 3.0.
 */
const BY_TEXT: [code: number, text: RegExp, verdict: Classification][] = [
  [3, /user name is empty|auth store is old/, ["unauthenticated", "relogin"]],
  [3, /authentication failed|user name not found/, ["unauthenticated", "final"]],
  [3, /request is too large/, ["tooLarge", "final"]],
  [8, /larger than max/, ["tooLarge", "final"]], // gRPC's own limit
  [5, /lease not found/, ["noSession", "final"]],
  [8, /space exceeded/, ["noSpace", "final"]],
  [8, /too many requests/, RETRY_FAULT],
  [9, /lease already exists/, ["exists", "final"]],
  [9, /permission|user name|password/, ["unauthenticated", "final"]],
  [11, /compacted/, ["compacted", "final"]],
];

const BY_CODE: Record<number, Classification> = {
  1: RETRY_FAULT, // cancelled: the member is shutting down
  2: RETRY_FAULT, // unknown
  4: RETRY_FAULT, // deadline exceeded
  6: ["exists", "final"],
  7: ["permission", "final"],
  5: FOREIGN_FAULT,
  10: RETRY_FAULT, // aborted
  12: FOREIGN_FAULT,
  13: RETRY_FAULT, // internal
  14: RETRY_FAULT, // unavailable: no leader, leader changed, request timed out
  16: ["unauthenticated", "relogin"],
};

/** For an etcd that requires a login while no user is configured. */
const LOGIN_HINT =
  "; set user and passwordFile (SIGNALBOX_USER, SIGNALBOX_PASSWORD_FILE), or cert and key of a client certificate";

/** Builds the error for a gRPC status that a member returned. */
export function createStatusError(
  endpoint: string,
  code: number,
  text: string,
  cause?: unknown,
): MemberError {
  const verdict =
    BY_TEXT.find(([c, pattern]) => c === code && pattern.test(text))?.[2] ?? BY_CODE[code] ?? INVALID_FAULT;
  const [kind, advice] = verdict;
  const needsLogin = code === 3 && text.includes("user name is empty");
  const hint = needsLogin ? LOGIN_HINT : verdict === FOREIGN_FAULT ? FOREIGN_HINT : "";
  return new MemberError(kind, advice, `${endpoint}: ${text}${hint}`, { cause });
}

/** Whether etcd refused a login because authentication is disabled. Only the text tells: the code has other meanings too. */
export function isAuthenticationOff(error: unknown): boolean {
  return error instanceof MemberError && error.message.endsWith("authentication is not enabled");
}

const CODE_BY_NAME: Record<string, number> = {
  PermissionDenied: 7,
  Unauthenticated: 16,
  OutOfRange: 11,
  Unavailable: 14,
};

/** Builds the error for a refused watch. etcd formats the status as the reason: `rpc error: code = X desc = …`. */
export function createRefusedWatchError(endpoint: string, reason: string): MemberError {
  const [, name = "", text = reason] = /code = (\w+) desc = (.*)/.exec(reason) ?? [];
  return createStatusError(endpoint, CODE_BY_NAME[name] ?? 14, `the watch was refused: ${text}`);
}

/** The code of a connection that ends during the TLS handshake. */
export const HANDSHAKE_CUT = "ETLSCUT";
/** etcd without TLS closes such a connection without a message; so does one that restarts. */
const HANDSHAKE_CUT_TEXT =
  "the connection was closed in the TLS handshake: the port does not speak TLS (is it http?), or etcd restarts";

const SOCKET_TEXT: Record<string, [text: string, verdict?: Classification]> = {
  ECONNREFUSED: ["connection refused: nothing listens there"],
  ECONNRESET: ["connection reset"],
  [HANDSHAKE_CUT]: [HANDSHAKE_CUT_TEXT],
  EPIPE: ["connection closed"],
  ETIMEDOUT: ["connection timed out"],
  EHOSTUNREACH: ["no route to host"],
  ENETUNREACH: ["network unreachable"],
  EAI_AGAIN: ["the name cannot be looked up at the moment"],
  ENOTFOUND: ["no such host name", ["unavailable", "elsewhere"]],
  ENOTHTTP: ["does not speak plain HTTP; is it https?", ["unavailable", "elsewhere"]],
  EPROTO: ["does not speak TLS; is it http?", ["unavailable", "elsewhere"]],
  ERR_SSL_WRONG_VERSION_NUMBER: ["does not speak TLS; is it http?", ["unavailable", "elsewhere"]],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ["does not speak TLS; is it http?", ["unavailable", "elsewhere"]],
};

/** Builds the error for a connection that failed before a response. */
export function createSocketError(endpoint: string, error: unknown): MemberError {
  const first = error instanceof AggregateError ? error.errors[0] : error; // one per resolved address
  const code = first instanceof Error && "code" in first ? String(first.code) : "";
  const plain = getPlainMessage(first);
  const [text, verdict = classifyTlsError(code)] = SOCKET_TEXT[code] ?? [explainTlsFault(plain) ?? plain];
  // etcd closes plaintext connections without a message when it requires TLS.
  const hint = code === "ECONNRESET" && endpoint.startsWith("http:") ? " (is it https?)" : "";
  return new MemberError(...verdict, `${endpoint}: ${text}${hint}`, { cause: error });
}

/**
 * Explains a gRPC error of a connection that was not established. The text of gRPC contains the message of Node. A
 * reset means that TCP was connected, so the TLS handshake was cut.
 * @returns undefined for other errors
 */
export function explainGrpcFault(endpoint: string, text: string): string | undefined {
  const isCut =
    /disconnected before secure TLS connection/.test(text) ||
    /No connection established.*ECONNRESET/.test(text);
  if (isCut && endpoint.startsWith("https:")) return HANDSHAKE_CUT_TEXT;
  const [, code = ""] = /No connection established.*?\b(E[A-Z]{4,})\b/.exec(text) ?? [];
  return SOCKET_TEXT[text.startsWith("Name resolution failed") ? "ENOTFOUND" : code]?.[0];
}

/**
 * Explains why a TLS connection was not established.
 * @param text  the message of Node or OpenSSL, or one of gRPC that contains it
 * @returns undefined for other faults
 */
export function explainTlsFault(text: string): string | undefined {
  if (/self.signed certificate|unable to (get|verify)/i.test(text))
    return "an unknown authority has signed its certificate; name the authority with --cacert";
  if (/certificate has expired/i.test(text)) return "its certificate has expired; renew it";
  if (/certificate is not yet valid/i.test(text))
    return "its certificate is not valid yet; check the clocks of both hosts";
  if (/wrong version number|packet length too long/i.test(text)) return "does not speak TLS; is it http?";
  const [, name, names] =
    /(?:^|altnames: )(?:Host|IP): (\S+?)\.? is not in the cert's (?:altnames|list): (.*?)\.?(?: Resolution note.*)?$/.exec(
      text,
    ) ?? [];
  if (names === undefined) return undefined;
  return `its certificate is for ${names || "no name"}, not for ${name}; correct the endpoint, or name one of those with --server-name`;
}

/** Returns a readable message. OpenSSL's messages are a line of source positions; its `reason` is readable. */
function getPlainMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
}

/**
 * Classifies TLS errors. A retry does not help with certificates: the server refused the client's, or the client
 * rejects the server's.
 */
function classifyTlsError(code: string): Classification {
  if (/^ERR_SSL_.*ALERT/.test(code)) return ["unauthenticated", "elsewhere"];
  return /CERT|SELF_SIGNED|ISSUER|LEAF|^ERR_TLS/.test(code) ? ["unavailable", "elsewhere"] : RETRY_FAULT;
}
