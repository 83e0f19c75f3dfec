/**
 * etcd's gateway with a role that may not write hosts, as etcd 3.4.42, 3.5.28, 3.6.9 and later refuse it: earlier ones do not
 * look into nested transactions.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Keys } from "../../../src/core/protocol/keys.ts";

interface WireOp {
  request_put?: { key: string };
  request_txn?: WireTxn;
}
interface WireTxn {
  success?: WireOp[];
  failure?: WireOp[];
}

const REFUSAL = JSON.stringify({
  error: "etcdserver: permission denied",
  code: 7,
  message: "etcdserver: permission denied",
});

/** Until the test is over. @returns where it listens, and how often it has refused */
export async function refuseHostWrites(
  target: string,
  keys: Keys,
): Promise<{ endpoint: string; refusals(): number }> {
  let refusals = 0;
  const server = createServer(async (asked, answer) => {
    const isTxn = asked.url === "/v3/kv/txn";
    const body = isTxn ? await readText(asked) : undefined;
    if (body !== undefined && isHostWrite(JSON.parse(body) as WireTxn, keys.hosts().key)) {
      refusals += 1;
      answer.writeHead(403).end(REFUSAL);
    } else forward(target, asked, answer, body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, refusals: () => refusals };
}

/** @param body  what was read of it already; otherwise it is passed on as it comes, as for a watch */
function forward(
  target: string,
  asked: IncomingMessage,
  answer: ServerResponse,
  body: string | undefined,
): void {
  const end = () => answer.destroy();
  const onward = request(`${target}${asked.url}`, { method: "POST", headers: asked.headers });
  onward.on("error", end).on("response", (response) => {
    answer.writeHead(response.statusCode ?? 500, response.headers);
    answer.flushHeaders();
    response.on("error", end).pipe(answer);
  });
  answer.on("close", () => onward.destroy());
  if (body === undefined) asked.on("error", end).pipe(onward);
  else onward.end(body);
}

function isHostWrite({ success = [], failure = [] }: WireTxn, prefix: string): boolean {
  return [...success, ...failure].some(({ request_put: put, request_txn: txn }) => {
    if (txn !== undefined) return isHostWrite(txn, prefix);
    return put !== undefined && Buffer.from(put.key, "base64").toString("latin1").startsWith(prefix);
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
