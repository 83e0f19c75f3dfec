import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { socketError, statusError } from "../classify.ts";
import { MemberError } from "../member.ts";

/** How to reach one member: over TLS or not, with which connections. */
export interface Line {
  url: string;
  request: (options: RequestOptions) => ClientRequest;
  agent: Agent;
  target: RequestOptions;
}

export interface Answer {
  status: number;
  text: string;
}

/** One POST and its whole answer. @throws MemberError when the connection fails; soon once the signal is aborted */
export function exchange(
  line: Line,
  path: string,
  body: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(socketError(line.url, error));
    const headers = { ...jsonHeaders(token), "content-length": Buffer.byteLength(body) };
    const request = line.request({
      ...line.target,
      method: "POST",
      path,
      agent: line.agent,
      headers,
      signal,
    });
    request.on("error", fail);
    request.on("response", (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    request.end(body);
  });
}

export function jsonHeaders(token: string | undefined): Record<string, string> {
  return token === undefined
    ? { "content-type": "application/json" }
    : { "content-type": "application/json", authorization: token };
}

/** Closes connections that wait for their next use: one of them may be dead without our knowing. */
export function dropIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
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
