import { STATUS_CODES } from "node:http";
import { formatDuration } from "../../base/duration.ts";
import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { readFileWithMode, readSecretLine } from "../../config/files.ts";
import { type HttpSpec, isHeaderValue, type StatusRange } from "../file/http-schema.ts";
import type { Handler, ScheduledTask, TaskResult } from "../handler.ts";
import { toLostResult } from "./command-handler.ts";
import {
  buildRedirectedRequest,
  findRedirectTarget,
  type HttpRequest,
  openRequest,
  type ResponseHead,
  readBody,
} from "./find-redirect.ts";
import type { HandlerPorts } from "./handler-ports.ts";
import { RecordedOutput } from "./recorded-output.ts";
import { RequestDeadline } from "./request-deadline.ts";
import { buildTaskHeaders, serializeTask } from "./task-input.ts";

/** Options of a handler that sends a request. */
interface HttpHandlerOptions {
  http: HttpSpec;
  /** Used when the definition has no timeout, ms. Default: one minute. */
  timeout?: number | undefined;
}

/** Default limit from the connection to the end of the response, ms. */
const TIMEOUT = 60_000;
/** Methods whose requests have no body unless one is configured. */
const WITHOUT_BODY = ["GET", "HEAD", "DELETE"];
const LONGEST_REASON = 300;

/**
 * Runs tasks as requests to a web server. The expected statuses are success; 429 and 503 with Retry-After ask for
 * another start; all else is a failure. The end of the response becomes the tail of the outcome. Does not trust the
 * server: what it sends is limited, sanitized, and ended with the task.
 */
export class HttpHandler implements Handler {
  readonly #ports: HandlerPorts;
  readonly #http: HttpSpec;
  readonly #timeout: number;

  /** @throws ConfigError when a file with a secret cannot be used */
  constructor(ports: HandlerPorts, { http, timeout = TIMEOUT }: HttpHandlerOptions) {
    readSecretHeaders(http.secretHeaders);
    this.#ports = ports;
    this.#http = http;
    this.#timeout = timeout;
  }

  /** Runs the task. Rejects only with a ConfigError about a file with a secret. */
  async run(task: ScheduledTask): Promise<TaskResult> {
    const secret = readSecretHeaders(this.#http.secretHeaders);
    const output = new RecordedOutput(this.#ports, task, { secrets: secret.secrets });
    const result = await this.#runWithDeadline(task, this.#buildRequest(task, secret.headers), output);
    output.end();
    const tail = output.close();
    const reason = result.reason && maskReason(result.reason, output.masks);
    return { ...result, ...(reason && { reason }), ...(tail !== undefined && { tail }) };
  }

  #buildRequest(task: ScheduledTask, secretHeaders: HttpRequest["headers"]): HttpRequest {
    const { url, method, headers, body = WITHOUT_BODY.includes(method) ? "none" : "task" } = this.#http;
    const type = body === "none" ? {} : { "content-type": getContentType(body) };
    return {
      url: new URL(url),
      method,
      body: buildBody(task, body),
      headers: { ...type, ...headers, ...secretHeaders, ...buildTaskHeaders(task) },
    };
  }

  async #runWithDeadline(
    task: ScheduledTask,
    request: HttpRequest,
    output: RecordedOutput,
  ): Promise<TaskResult> {
    const deadline = new RequestDeadline(this.#ports.clock, task);
    const timeout = task.definition.timeout ?? this.#timeout;
    try {
      await deadline.start(timeout);
      return await this.#send(task, request, output, deadline.signal);
    } catch (error) {
      const { ending } = deadline;
      if (ending === "timeout")
        return { result: "timeout", reason: `no complete response within ${formatDuration(timeout)}` };
      if (ending === "horizon") return { result: "lost", reason: "the session could not be renewed in time" };
      if (task.signal.aborted) return toLostResult(task.signal.reason);
      return { result: "failed", reason: error instanceof Error ? describeError(error) : String(error) };
    } finally {
      deadline.close();
    }
  }

  /** Sends the request, and those of redirects. @throws the error of the connection */
  async #send(
    task: ScheduledTask,
    first: HttpRequest,
    output: RecordedOutput,
    signal: AbortSignal,
  ): Promise<TaskResult> {
    const { expect, redirects } = this.#http;
    let request = first;
    for (let left = redirects; ; left -= 1) {
      const answer = await openRequest(request, signal);
      try {
        const response: ResponseHead = { status: answer.statusCode ?? 0, headers: answer.headers };
        const next =
          left > 0 && !isExpected(response.status, expect)
            ? buildRedirectedRequest(request, response, buildTaskHeaders(task))
            : undefined;
        if (next === undefined) {
          await readBody(answer, (chunk) => output.take(chunk, 1), signal);
          return judgeResponse(response, expect, request.url, this.#ports.clock.getWallTime());
        }
        request = next;
      } finally {
        answer.destroy();
      }
    }
  }
}

type BodySpec = NonNullable<HttpSpec["body"]>;

function getContentType(body: BodySpec): string {
  return typeof body === "string" ? "application/json" : "text/plain; charset=utf-8";
}

function buildBody(task: ScheduledTask, body: BodySpec): string | undefined {
  if (typeof body !== "string") return body.text;
  if (body === "none") return undefined;
  return body === "task" ? serializeTask(task) : JSON.stringify(task.definition.data ?? null);
}

/** Describes an error of a connection. Those of several addresses have no message of their own. */
function describeError(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return error.message === "" ? (code ?? error.name) : error.message;
}

/** Masks and sanitizes a reason: parts of it come from the server. */
function maskReason(reason: string, masks: readonly RegExp[]): string {
  return clean(
    masks.reduce((shown, mask) => shown.replaceAll(mask, "***"), reason),
    LONGEST_REASON,
  );
}

/** Limits of the wait that a server may ask for, ms. */
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 86_400_000;

/** Returns whether a status is among the expected ones. */
function isExpected(status: number, expected: readonly StatusRange[]): boolean {
  return expected.some(({ from, to }) => status >= from && status <= to);
}

/**
 * Returns the result of a task from the response of its server.
 * @param url  the address that answered
 * @param now  ms since the epoch, for a Retry-After with a date
 */
function judgeResponse(
  response: ResponseHead,
  expected: readonly StatusRange[],
  url: URL,
  now: number,
): TaskResult {
  const { status: code, headers } = response;
  if (isExpected(code, expected)) return { result: "ok", code };
  const answer = `it answered ${[code, STATUS_CODES[code]].join(" ").trim()}`;
  const wait = code === 429 || code === 503 ? parseRetryAfter(headers["retry-after"], now) : undefined;
  if (wait !== undefined) return { result: "retry", wait, code, reason: answer };
  const target = findRedirectTarget(response, url);
  if (target === undefined) return { result: "failed", code, reason: answer };
  const where = target.host === "" ? target.protocol : target.origin;
  return { result: "failed", code, reason: `${answer}, a redirect to ${where}` };
}

/**
 * Parses the header Retry-After: seconds, or a date.
 * @param now  ms since the epoch
 * @returns ms, from a second to a day; undefined if it is neither
 */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const isDate = /^[A-Z][a-z]+, .* GMT$/.test(text);
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, SHORTEST_WAIT), LONGEST_WAIT);
}

/** Headers from files, and the texts that must not appear in output. */
interface SecretHeaders {
  headers: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

/**
 * Reads the headers whose values are in files. Call it for every request: the files may change.
 * @throws ConfigError when a file is missing, not private, or not one line for a header
 */
function readSecretHeaders(spec: HttpSpec["secretHeaders"]): SecretHeaders {
  const read = Object.entries(spec).map(([name, { file, prefix }]) => {
    const secret = readSecretLine(file, readFileWithMode, { named: "in secretHeaders", what: "the secret" });
    if (!isHeaderValue(prefix + secret))
      throw new ConfigError(`${clean(file)} has a character that a header cannot contain`);
    return { name, value: prefix + secret, secret };
  });
  return {
    headers: Object.fromEntries(read.map(({ name, value }) => [name, value])),
    secrets: read.flatMap(({ secret }) => [secret, ...listCredentials(secret)]),
  };
}

/** Returns the part after the scheme of a value such as `Bearer TOKEN`. */
function listCredentials(secret: string): string[] {
  const [, credentials] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(secret) ?? [];
  return credentials === undefined ? [] : [credentials];
}
