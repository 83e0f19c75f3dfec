import http, { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from "node:http";
import https from "node:https";
import {
  type Clock,
  formatDuration,
  type Millis,
  subtractTime,
  type WallTime,
} from "../../core/base/clock.ts";
import { ConfigError } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import { readPemFile } from "../../core/config/files.ts";
import { buildSecureContext } from "../../core/etcd/tls.ts";
import { LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import { type HttpSpec, isHeaderValue, type StatusRange } from "../file/http-schema.ts";
import type { Handler, ScheduledTask, TaskResult } from "../handler.ts";
import type { HandlerPorts } from "../worker-ports.ts";
import { type TaskEnding, toEndedResult, toLostResult } from "./command-handler.ts";
import { createHttpCheckpoint } from "./http-checkpoint.ts";
import { createRecordedOutput } from "./recorded-output.ts";
import { readSecretValue } from "./secrets.ts";
import { buildTaskHeaders, serializeTask } from "./task-input.ts";

/** How long before the horizon a request is aborted, ms. */
const ABORT_MARGIN_MS = 500;

/** Pause between looks whether the horizon has moved, ms. */
const HORIZON_CHECK_PAUSE_MS = 100;

/** Aborts the request of a task when the task ends, its timeout passes, or the horizon comes near. */
export class RequestDeadline {
  readonly #clock: Clock;
  readonly #task: ScheduledTask;
  readonly #request = new AbortController();
  readonly #over = new AbortController();
  #horizonTimer = new AbortController();
  #stopListening = () => {};
  #ending: TaskEnding | undefined;

  constructor(clock: Clock, task: ScheduledTask) {
    this.#clock = clock;
    this.#task = task;
  }

  /** Aborted when the request must end. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** Why the request was aborted; undefined if it was not. */
  get ending(): TaskEnding | undefined {
    return this.#ending;
  }

  /**
   * Waits until a request has time before the horizon, and begins to watch.
   * @param timeout  ms until the request is aborted
   * @throws the task's reason if the task has ended
   */
  async start(timeout: Millis): Promise<void> {
    const { signal } = this.#task;
    while (this.#computeTimeLeft() <= 0) await this.#clock.sleep(HORIZON_CHECK_PAUSE_MS, signal);
    signal.throwIfAborted();
    signal.addEventListener("abort", () => this.#end("task"), { once: true, signal: this.#over.signal });
    this.#clock.sleep(timeout, this.#over.signal).then(() => this.#end("timeout"), doNothing);
    this.#stopListening = this.#task.onExtended(() => this.#watchHorizon());
    this.#watchHorizon();
  }

  /** Stops watching. */
  close(): void {
    this.#stopListening();
    this.#over.abort();
    this.#horizonTimer.abort();
  }

  #computeTimeLeft(): Millis {
    return subtractTime(this.#task.getHorizon(), this.#clock.now()) - ABORT_MARGIN_MS;
  }

  #watchHorizon(): void {
    this.#horizonTimer.abort();
    this.#horizonTimer = new AbortController();
    const left = this.#computeTimeLeft();
    if (left <= 0) return this.#end("horizon");
    this.#clock.sleep(left, this.#horizonTimer.signal).then(() => this.#watchHorizon(), doNothing);
  }

  #end(ending: TaskEnding): void {
    if (this.#over.signal.aborted) return;
    this.#ending = ending;
    this.close();
    this.#request.abort();
  }
}

const doNothing = () => {};

/** Options of a handler that sends a request. */
interface HttpHandlerOptions {
  http: HttpSpec;
  /** Used when the definition has no timeout, ms. Default: one minute. */
  timeout?: Millis | undefined;
}

/** Default limit from the connection to the end of the response, ms. */
const DEFAULT_TIMEOUT_MS = 60_000;

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
  readonly #timeout: Millis;

  /** @throws ConfigError when a file with a secret or a certificate cannot be used */
  constructor(ports: HandlerPorts, { http, timeout = DEFAULT_TIMEOUT_MS }: HttpHandlerOptions) {
    readSecretHeaders(http.secretHeaders);
    readCertificates(http);
    this.#ports = ports;
    this.#http = http;
    this.#timeout = timeout;
  }

  /** Runs the task. Rejects only with a ConfigError about a file with a secret. */
  async run(task: ScheduledTask): Promise<TaskResult> {
    const secret = readSecretHeaders(this.#http.secretHeaders);
    const output = createRecordedOutput(this.#ports, task, { secrets: secret.secrets });
    const isInBody = this.#chooseBody() === "task";
    const checkpoint = createHttpCheckpoint(task, this.#ports.log, isInBody);
    const own = buildTaskHeaders(task);
    const request = this.#buildRequest(task, { ...secret.headers, ...own, ...checkpoint.buildHeader() });
    const receive = (answer: IncomingMessage) => {
      checkpoint.takeHeaders(answer);
      return (chunk: Buffer) => {
        output.take(chunk, 1);
        checkpoint.take(chunk);
      };
    };
    const result = await this.#runWithDeadline(task, (signal) => this.#send(request, own, receive, signal));
    output.end();
    const tail = output.close();
    const fault = result.result === "ok" ? undefined : await checkpoint.save();
    const why =
      fault === undefined ? result.reason : `${result.reason}; its checkpoint is not kept: ${fault}`;
    const reason = why && clean(output.maskSecrets(why), LONGEST_REASON);
    return { ...result, ...(reason && { reason }), ...(tail !== undefined && { tail }) };
  }

  #chooseBody(): BodySpec {
    const { method, body = WITHOUT_BODY.includes(method) ? "none" : "task" } = this.#http;
    return body;
  }

  #buildRequest(task: ScheduledTask, moreHeaders: HttpRequest["headers"]): HttpRequest {
    const { url, method, headers } = this.#http;
    const body = this.#chooseBody();
    const type = body === "none" ? {} : { "content-type": getContentType(body) };
    return {
      url: new URL(url),
      method,
      body: buildBody(task, body),
      headers: { ...type, ...headers, ...moreHeaders },
      tls: readCertificates(this.#http),
    };
  }

  async #runWithDeadline(
    task: ScheduledTask,
    send: (signal: AbortSignal) => Promise<TaskResult>,
  ): Promise<TaskResult> {
    const deadline = new RequestDeadline(this.#ports.clock, task);
    const timeout = task.definition.timeout ?? this.#timeout;
    try {
      await deadline.start(timeout);
      return await send(deadline.signal);
    } catch (error) {
      const { ending } = deadline;
      if (ending !== undefined)
        return toEndedResult(task, ending, `no complete response within ${formatDuration(timeout)}`);
      if (task.signal.aborted) return toLostResult(task.signal.reason);
      return { result: "failed", reason: error instanceof Error ? describeError(error) : String(error) };
    } finally {
      deadline.close();
    }
  }

  /**
   * Sends the request, and those of redirects.
   * @param own  the headers that every server may get
   * @param receive  called with the last response; returns what takes its body
   * @throws the error of the connection
   */
  async #send(
    first: HttpRequest,
    own: HttpRequest["headers"],
    receive: (answer: IncomingMessage) => (chunk: Buffer) => void,
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
            ? buildRedirectedRequest(request, response, own)
            : undefined;
        if (next === undefined) {
          await readBody(answer, receive(answer), signal);
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
  return body === "task"
    ? serializeTask(task, task.checkpoint)
    : JSON.stringify(task.definition.data ?? null);
}

/** Describes an error of a connection. Those of several addresses have no message of their own. */
function describeError(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return error.message === "" ? (code ?? error.name) : error.message;
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
 * @param now  for a Retry-After with a date
 */
function judgeResponse(
  response: ResponseHead,
  expected: readonly StatusRange[],
  url: URL,
  now: WallTime,
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
 * @returns ms, from a second to a day; undefined if it is neither
 */
export function parseRetryAfter(text: string | undefined, now: WallTime): number | undefined {
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
  const read = Object.entries(spec).map(([name, secret]) => {
    const { value, masks } = readSecretValue(secret, "in secretHeaders");
    if (!isHeaderValue(value))
      throw new ConfigError(`${clean(secret.file ?? "")} has a character that a header cannot contain`);
    return { name, value, masks };
  });
  return {
    headers: Object.fromEntries(read.map(({ name, value }) => [name, value])),
    secrets: read.flatMap(({ masks }) => masks),
  };
}

interface RequestCertificates {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Reads the certificates. Call it for every request: they are renewed. @throws ConfigError */
function readCertificates({ cacert, cert, key }: HttpSpec): RequestCertificates {
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError(
      `http: cert and key must be given together; got only ${cert === undefined ? "key" : "cert"}`,
    );
  const certificates = {
    ...(cacert !== undefined && { ca: readPemFile("cacert", cacert) }),
    ...(cert !== undefined && { cert: readPemFile("cert", cert) }),
    ...(key !== undefined && { key: readPemFile("key", key) }),
  };
  if (cert !== undefined) buildSecureContext(certificates, `http: ${cert} and ${key}`);
  return certificates;
}

/** The status and the headers of a response. */
interface ResponseHead {
  status: number;
  headers: IncomingHttpHeaders;
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Returns the address of a redirect; undefined if the response is not a redirect, or its address cannot be read. */
function findRedirectTarget({ status, headers }: ResponseHead, url: URL): URL | undefined {
  if (!REDIRECTS.includes(status) || headers.location === undefined) return undefined;
  return URL.parse(headers.location, url.href) ?? undefined;
}

/**
 * Builds the request that follows a redirect. Another server gets none of the configured headers, and no certificate.
 * @param ownHeaders  the headers that every server may get
 * @returns undefined if the response is no redirect, or if its address must not be followed: it is not http or https,
 *   or it leaves https
 */
export function buildRedirectedRequest(
  request: HttpRequest,
  response: ResponseHead,
  ownHeaders: HttpRequest["headers"],
): HttpRequest | undefined {
  const url = findRedirectTarget(response, request.url);
  if (url === undefined || !canFollow(request.url, url)) return undefined;
  url.username = "";
  url.password = "";
  const isSame = url.origin === request.url.origin;
  const kept = isSame ? request.headers : ownHeaders;
  const { ca } = request.tls;
  const tls = isSame ? request.tls : { ...(ca !== undefined && { ca }) };
  if ([307, 308].includes(response.status) || ["GET", "HEAD"].includes(request.method))
    return { ...request, url, headers: kept, tls };
  const headers = Object.fromEntries(Object.entries(kept).filter(([name]) => name !== "content-type"));
  return { url, method: "GET", headers, body: undefined, tls };
}

function canFollow(from: URL, to: URL): boolean {
  return to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");
}

/** A request to a web server. */
export interface HttpRequest {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  tls: RequestCertificates;
}

/** Most bytes of the header lines of a response: percent-encoding makes a checkpoint up to three times as long. */
const LONGEST_HEADERS = 16 * 1024 + 3 * LARGEST_CHECKPOINT;

/** Most bytes of a response that are read: the rest is cut off. */
const LONGEST_BODY = 1024 * 1024;

/** Most interim responses (1xx) before the response. */
const MOST_INTERIM = 100;

/**
 * Sends a request, on a connection of its own.
 * @param signal  aborts the request, and the reading of the response
 * @returns the response when its headers have arrived. The caller must end it with `destroy`
 * @throws the error of the connection
 */
function openRequest(
  { url, method, headers, body, tls }: HttpRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { request } = url.protocol === "https:" ? https : http;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const options = {
    method,
    agent: false,
    signal,
    maxHeaderSize: LONGEST_HEADERS,
    headers: { ...headers, ...length },
    ...tls,
  };
  return new Promise((resolve, reject) => {
    const call = request(url.href, options, (answer) => {
      answer.on("error", () => {}); // the reader gets the error
      resolve(answer);
    });
    let interim = 0;
    call.on("information", () => {
      interim += 1;
      if (interim > MOST_INTERIM) call.destroy(new Error("too many interim responses"));
    });
    call.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("the server changed the protocol"));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/**
 * Reads the body of a response, at most 1 MiB.
 * @param onChunk  called with all that has arrived since the last call: not with every small piece
 * @param signal  aborts the request. A body without a length looks complete then
 * @throws the error of the connection, also if it ends too early; the signal's reason
 */
async function readBody(
  answer: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  let left = LONGEST_BODY;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    onChunk(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) return;
  }
  signal.throwIfAborted();
}
