/** Web servers for handlers: well-behaved ones, and ones that write raw bytes. */
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { applySchema } from "../../../src/core/base/schema.ts";
import { HTTP, type HttpSpec } from "../../../src/worker/file/http-schema.ts";

interface Request {
  method: string | undefined;
  path: string | undefined;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/**
 * Starts a server that keeps what it is asked.
 * @param answer  ends the response, or does not
 * @param tls  the server speaks https
 */
export async function startWebServer(
  answer: (response: http.ServerResponse, request: Request) => void = (response) => void response.end(),
  tls?: https.ServerOptions,
) {
  const requests: Request[] = [];
  const listener: http.RequestListener = async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method, url: path, headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
    requests.push(request);
    answer(response, request);
  };
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  const url = await listen(server, tls === undefined ? "http" : "https");
  onTestFinished(() => server.closeAllConnections());
  return { url, requests };
}

/** Starts a server that writes raw bytes to each connection after it got the first bytes of a request. */
export async function startRawServer(write: (socket: net.Socket) => void) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => write(socket));
  });
  const url = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  /** Resolves when every connection so far is closed. */
  const waitUntilClosed = () =>
    Promise.all(
      [...sockets].map((one) => one.closed || new Promise((resolve) => one.once("close", resolve))),
    );
  return { url, sockets, waitUntilClosed };
}

async function listen(server: net.Server, scheme = "http"): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Reads an entry `http` of a worker's file. @throws Error with its fault */
export function readHttpSpec(value: unknown): HttpSpec {
  const read = applySchema(HTTP, value);
  if ("fault" in read) throw new Error(`${read.fault.path.join(".")}: ${read.fault.what}`);
  return read.value;
}
