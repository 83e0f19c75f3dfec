import { socketError, statusError } from "../classify.ts";
import { MemberError } from "../member.ts";
import type { Answer } from "./connection.ts";
import type { Pool } from "./pool.ts";

/** How to reach one member. */
export interface Line {
  url: string;
  pool: Pool;
}

/** One POST and its whole answer. @throws MemberError when the connection fails; soon once the signal is aborted */
export async function exchange(
  line: Line,
  path: string,
  body: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  try {
    return await line.pool.request(`${head(line, path, token, length)}${body}`, signal);
  } catch (error) {
    throw socketError(line.url, error);
  }
}

/** The head of a POST. @param more further header fields. @throws MemberError for a token that no header can hold */
export function head(line: Line, path: string, token: string | undefined, ...more: string[]): string {
  if (token !== undefined && /[^\x20-\x7e]/.test(token)) {
    throw new MemberError("unauthenticated", "final", `${line.url} gave a token that cannot be sent back`);
  }
  const authority = line.url.slice(line.url.indexOf("//") + 2);
  const identity = token === undefined ? [] : [`authorization: ${token}`];
  const fields = [`host: ${authority}`, "content-type: application/json", ...identity, ...more];
  return `POST ${path} HTTP/1.1\r\n${fields.join("\r\n")}\r\n\r\n`;
}

/** The gateway's error: flat in answers, and under `error` in streams. */
interface GatewayError {
  code?: number;
  grpc_code?: number;
  message?: string;
  error?: string | GatewayError;
}

/** What a member answered, or the error it answered with. @throws MemberError */
export function unwrap(line: Line, { status, text }: Answer): unknown {
  const parsed = parse(text);
  if (status === 200 && parsed !== undefined) return unwrapLine(line, parsed);
  throw failure(line, status, parsed, text);
}

/** One object of a stream: `{result}` or `{error}`. Answers that are no stream pass as they are. @throws MemberError */
export function unwrapLine(line: Line, parsed: object): unknown {
  if ("error" in parsed) throw failure(line, 200, parsed as GatewayError, "");
  return "result" in parsed ? parsed.result : parsed;
}

function failure(line: Line, status: number, parsed: GatewayError | undefined, text: string): MemberError {
  const error = typeof parsed?.error === "object" ? parsed.error : parsed;
  const code = error?.code ?? error?.grpc_code;
  if (code !== undefined) return statusError(line.url, code, error?.message ?? "unknown error");
  if (status === 404) {
    const advice = "is its JSON gateway off? Then use transport grpc";
    return new MemberError("invalid", "elsewhere", `${line.url} answers 404 Not Found: ${advice}`);
  }
  if (status === 400 && text.includes("HTTPS server")) {
    return new MemberError("unavailable", "elsewhere", `${line.url} speaks TLS: use https://`);
  }
  if (status === 400 && text.includes("CommonName")) {
    const advice =
      "etcd takes no identity from a certificate here; use transport grpc, or a user and password";
    return new MemberError("unauthenticated", "final", `${line.url}: ${advice}`);
  }
  const start = JSON.stringify(text.slice(0, 80));
  return new MemberError(
    "unavailable",
    "retry",
    `${line.url} does not answer as etcd does: status ${status}, ${start}`,
  );
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
