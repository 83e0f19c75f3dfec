/** A minimal stub of etcd's JSON gateway, enough for one uncontended run during a build. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface Op {
  request_put?: { key: string; value: string };
  request_range?: { key: string };
  request_txn?: object;
}

const HEADER = { revision: "2", raft_term: "2" };

/** @returns the server, which the caller closes, and its address */
export async function startEtcdStub(): Promise<{ server: Server; endpoint: string }> {
  const kept = new Map<string, object>();
  const server = createServer(async (request, response) => {
    const text = await readText(request).catch(() => undefined);
    if (text === undefined) return; // the client has gone
    const { success = [] } = JSON.parse(text) as { success?: Op[] };
    const responses = success.map((op) => buildAnswer(op, kept));
    response.end(JSON.stringify({ header: HEADER, TTL: "30", succeeded: true, responses }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Answers reads with the keys that were put, because a run checks whether its tickets still exist. */
function buildAnswer(
  { request_put: put, request_range: range, request_txn: txn }: Op,
  kept: Map<string, object>,
): object {
  if (put !== undefined) {
    const { revision } = HEADER;
    kept.set(put.key, { ...put, create_revision: revision, mod_revision: revision, lease: "1" });
  }
  if (txn !== undefined) return { response_txn: { succeeded: true } };
  const found = range === undefined ? undefined : kept.get(range.key);
  return range === undefined ? { response_put: {} } : { response_range: found ? { kvs: [found] } : {} };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
