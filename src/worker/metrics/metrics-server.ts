import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIPv6, type Socket } from "node:net";
import { ConfigError, UsageError } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import { formatListenAddress, type ListenAddress } from "./listen-address.ts";

/** Provides the contents to serve. */
interface MetricsSource {
  /** Returns the metrics in the text format of Prometheus. */
  renderMetrics(): Promise<string>;
  /** Returns undefined while the service is healthy, otherwise the reason. */
  findFault(): string | undefined;
}

export interface MetricsServer {
  /** The address with the actual port. */
  readonly address: ListenAddress;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}

const TEXT_TYPE = "text/plain; charset=utf-8";
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
/** A client that neither sends nor receives for this time is disconnected, ms. */
const SILENCE_TIMEOUT_MS = 10_000;

/**
 * Serves `/metrics` and `/healthz` (200, or 503 and the reason) until it is closed.
 * @throws ConfigError when the address is in use or not permitted
 */
export async function serveMetrics(
  address: ListenAddress,
  source: MetricsSource,
  log: Log,
): Promise<MetricsServer> {
  return await serveRequests(address, METRICS_CLIENTS, log, (request, response) =>
    answer(source, request, response),
  );
}

/**
 * Answers requests until it is closed. Clients that are slow, silent or too many are disconnected. If `respond` fails, this is
 * logged, and answered with 500.
 * @throws ConfigError when the address is in use or not permitted
 */
export async function serveRequests(
  address: ListenAddress,
  clients: ClientLimits,
  log: Log,
  respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<MetricsServer> {
  const limits = {
    headersTimeout: 5_000,
    requestTimeout: SILENCE_TIMEOUT_MS,
    keepAliveTimeout: 5_000,
    maxHeaderSize: 8_192,
    connectionsCheckingInterval: 1_000, // the limits above are checked so often
  };
  const server = createServer(limits, (request, response) => {
    respond(request, response).catch((error) => {
      log.error("cannot answer a request", { error: (error as Error).message });
      if (response.headersSent) response.destroy();
      else send(request, response, 500, "this cannot be shown; see the log\n");
    });
  });
  limitClients(server, clients);
  server.setTimeout(SILENCE_TIMEOUT_MS); // closes a client that does not read, even with data left to send
  await listen(server, address);
  server.on("error", (error) => log.warn("the HTTP server failed", { error: error.message }));
  const { port } = server.address() as AddressInfo;
  return { address: { ...address, port }, close: () => closeServer(server) };
}

async function answer(
  source: MetricsSource,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url?.replace(/\?.*$/s, "");
  const isKnown = path === "/metrics" || path === "/healthz" || path === "/";
  if (!isKnown) return send(request, response, 404, "not found; use /metrics or /healthz\n");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return send(request, response, 405, "only GET and HEAD\n");
  }
  if (path === "/") return send(request, response, 200, "signalbox: /metrics and /healthz\n");
  if (path === "/metrics") return send(request, response, 200, await source.renderMetrics(), METRICS_TYPE);
  const illness = source.findFault();
  send(request, response, illness === undefined ? 200 : 503, `${illness ?? "ok"}\n`);
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  code: number,
  text: string,
  type = TEXT_TYPE,
): void {
  const body = Buffer.from(text);
  response.writeHead(code, {
    "content-type": type,
    "content-length": body.length,
    "cache-control": "no-store",
  });
  response.end(method === "HEAD" ? undefined : body);
}

function listen(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(toListenError(address, error)));
    server.listen({ port: address.port, ...(address.host !== undefined && { host: address.host }) }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function toListenError(address: ListenAddress, cause: NodeJS.ErrnoException): Error {
  const where = formatListenAddress(address);
  if (cause.code === "EADDRINUSE")
    return new ConfigError(`${where} is taken by another program; listen on another port`, { cause });
  if (cause.code === "EACCES")
    return new ConfigError(`this user may not listen on ${where}; use a port of 1024 or more`, { cause });
  return new UsageError(`cannot listen on ${where}: ${cause.message}`, { cause });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Largest number of connections in all, and from one address. */
export interface ClientLimits {
  total: number;
  perAddress: number;
}

const METRICS_CLIENTS: ClientLimits = { total: 50, perAddress: 16 };

/**
 * Limits the connections of a server, so that no address can take the places of all others. Further connections are closed
 * at once.
 */
export function limitClients(server: Server, { total, perAddress }: ClientLimits = METRICS_CLIENTS): void {
  const counts = new Map<string, number>();
  server.maxConnections = total;
  server.on("connection", (socket: Socket) => {
    const network = getNetwork(socket.remoteAddress ?? "");
    const count = (counts.get(network) ?? 0) + 1;
    if (count > perAddress) return void socket.destroy();
    counts.set(network, count);
    socket.once("close", () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
}

/** Returns the /64 network of an IPv6 address, because one host can usually use all addresses in it. Other addresses stay as they are. */
function getNetwork(address: string): string {
  if (!isIPv6(address) || address.includes(".")) return address; // ::ffff:10.0.0.1 is an IPv4 address
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const left = head.split(":").filter((group) => group !== "");
  const right = tail?.split(":") ?? [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array<string>(zeros).fill("0"), ...right].slice(0, 4).join(":");
}

type Prom = typeof import("prom-client");

/** Gauges of prom-client that the check of Prometheus rejects: names that end in `_total` are reserved for counters. */
const MISNAMED_GAUGES = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** Creates a registry with metrics of the process: memory, processor time, event loop. */
export function createProcessRegistry({
  Registry,
  collectDefaultMetrics,
}: Prom): InstanceType<Prom["Registry"]> {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const name of MISNAMED_GAUGES) register.removeSingleMetric(name);
  return register;
}
