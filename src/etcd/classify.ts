import { type Advice, MemberError } from "./member.ts";
import type { StoreErrorKind } from "./store.ts";

type Verdict = [StoreErrorKind, Advice];

const RETRY: Verdict = ["unavailable", "retry"];
const INVALID: Verdict = ["invalid", "final"];

/**
 * gRPC codes that etcd uses for more than one thing are told apart by its messages: there is nothing else in an
 * answer to tell them by. The texts are those of etcd's api/v3rpc/rpctypes/error.go, unchanged since 3.0.
 */
const BY_TEXT: [code: number, text: RegExp, verdict: Verdict][] = [
  [3, /user name is empty|auth store is old/, ["unauthenticated", "relogin"]],
  [3, /authentication failed|user name not found/, ["unauthenticated", "final"]],
  [5, /lease not found/, ["noSession", "final"]],
  [8, /space exceeded/, ["noSpace", "final"]],
  [8, /too many requests/, RETRY],
  [9, /lease already exists/, ["exists", "final"]],
  [9, /permission|user name|password/, ["unauthenticated", "final"]],
  [11, /compacted/, ["compacted", "final"]],
];

const BY_CODE: Record<number, Verdict> = {
  1: RETRY, // cancelled: the member is going down
  2: RETRY, // unknown
  4: RETRY, // deadline exceeded
  6: ["exists", "final"],
  7: ["permission", "final"],
  10: RETRY, // aborted
  13: RETRY, // internal
  14: RETRY, // unavailable: no leader, leader changed, request timed out
  16: ["unauthenticated", "relogin"],
};

/** The error for a gRPC status that a member answered with. */
export function statusError(endpoint: string, code: number, text: string, cause?: unknown): MemberError {
  const [kind, advice] =
    BY_TEXT.find(([c, pattern]) => c === code && pattern.test(text))?.[2] ?? BY_CODE[code] ?? INVALID;
  return new MemberError(kind, advice, `${endpoint}: ${text}`, { cause });
}

const CODE_BY_NAME: Record<string, number> = {
  PermissionDenied: 7,
  Unauthenticated: 16,
  OutOfRange: 11,
  Unavailable: 14,
};

/** The error for a watch that was refused; etcd prints the status into the reason: `rpc error: code = X desc = …`. */
export function refusedWatch(endpoint: string, reason: string): MemberError {
  const [, name = "", text = reason] = /code = (\w+) desc = (.*)/.exec(reason) ?? [];
  return statusError(endpoint, CODE_BY_NAME[name] ?? 14, `the watch was refused: ${text}`);
}

const SOCKET_TEXT: Record<string, [text: string, verdict?: Verdict]> = {
  ECONNREFUSED: ["connection refused: nothing listens there"],
  ECONNRESET: ["connection reset"],
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

/** The error for a connection that failed before there was an answer. */
export function socketError(endpoint: string, error: unknown): MemberError {
  const first = error instanceof AggregateError ? error.errors[0] : error; // one a resolved address
  const code = first instanceof Error && "code" in first ? String(first.code) : "";
  const [text, verdict = tlsVerdict(code)] = SOCKET_TEXT[code] ?? [plainMessage(first)];
  // etcd hangs up on plaintext where it wants TLS, without a word.
  const hint = code === "ECONNRESET" && endpoint.startsWith("http:") ? " (does it want https?)" : "";
  return new MemberError(...verdict, `${endpoint}: ${text}${hint}`, { cause: error });
}

/** OpenSSL's messages are a line of source positions; its `reason` is for people. */
function plainMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
}

/** Certificates do not get better by trying again: ours was refused, or we refuse the server's. */
function tlsVerdict(code: string): Verdict {
  if (/^ERR_SSL_.*ALERT/.test(code)) return ["unauthenticated", "elsewhere"];
  return /CERT|SELF_SIGNED|ISSUER|LEAF|^ERR_TLS/.test(code) ? ["unavailable", "elsewhere"] : RETRY;
}
