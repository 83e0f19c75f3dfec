import { type Advice, MemberError } from "../member.ts";
import { createSocketError, createStatusError } from "../member-errors.ts";
import type { ConnectionPool, HttpResponse } from "./connection.ts";

/** The URL and connections of one member. */
export interface GatewayTarget {
  url: string;
  pool: ConnectionPool;
}

/**
 * Sends one POST and reads the complete response.
 * @throws MemberError when the connection fails; soon after the signal is aborted
 */
export async function postRequest(
  line: GatewayTarget,
  path: string,
  body: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  try {
    return await line.pool.request(`${formatRequestHead(line, path, token, length)}${body}`, signal);
  } catch (error) {
    throw createSocketError(line.url, error);
  }
}

/**
 * Formats the head of a POST.
 * @param more  further header fields
 * @throws MemberError for a token with characters that a header cannot contain
 */
export function formatRequestHead(
  line: GatewayTarget,
  path: string,
  token: string | undefined,
  ...more: string[]
): string {
  if (token !== undefined && /[^\x20-\x7e]/.test(token)) {
    throw new MemberError(
      "unauthenticated",
      "final",
      `${line.url} returned a token that cannot be sent in a header`,
    );
  }
  const authority = line.url.slice(line.url.indexOf("//") + 2);
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
export function unwrapResponse(line: GatewayTarget, { status, text }: HttpResponse): unknown {
  const parsed = parseObject(text);
  if (status !== 200 || parsed === undefined) throw toMemberError(line, status, parsed, text);
  const answer = unwrapStreamLine(line, parsed);
  if (typeof answer === "object" && answer !== null && "header" in answer) return answer;
  throw createNotEtcdError(line, "elsewhere", JSON.stringify(text.slice(0, 80)));
}

/**
 * Returns the content of one object of a stream: `{result}` or `{error}`. Plain responses are returned unchanged.
 * @throws MemberError
 */
export function unwrapStreamLine(line: GatewayTarget, parsed: object): unknown {
  if ("error" in parsed) throw toMemberError(line, 200, parsed as GatewayError, "");
  return "result" in parsed ? parsed.result : parsed;
}

function toMemberError(
  line: GatewayTarget,
  status: number,
  parsed: GatewayError | undefined,
  text: string,
): MemberError {
  const error = typeof parsed?.error === "object" ? parsed.error : parsed;
  const code = error?.code ?? error?.grpc_code;
  if (code !== undefined) return createStatusError(line.url, code, error?.message ?? "unknown error");
  if (status === 404) {
    const advice = "it is not etcd's client address, or its JSON gateway is off (then use transport grpc)";
    return new MemberError("notEtcd", "elsewhere", `${line.url} answers 404 Not Found: ${advice}`);
  }
  if (status === 400 && text.includes("HTTPS server")) {
    return new MemberError("unavailable", "elsewhere", `${line.url} speaks TLS: use https://`);
  }
  if (status === 400 && text.includes("CommonName")) {
    const advice =
      "etcd does not identify users by certificate here; use transport grpc, or a user and password";
    return new MemberError("unauthenticated", "final", `${line.url}: ${advice}`);
  }
  const start = JSON.stringify(text.slice(0, 80));
  // A proxy's 502 or 503 is temporary; a status of 300 to 499 is permanent.
  const advice = status >= 300 && status < 500 ? "elsewhere" : "retry";
  return createNotEtcdError(line, advice, `status ${status}, ${start}`);
}

/** Builds the error for a server that does not speak etcd's protocol. */
function createNotEtcdError(line: GatewayTarget, advice: Advice, answer: string): MemberError {
  const text = `${line.url} does not answer as etcd does: ${answer}; check the address and port`;
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
