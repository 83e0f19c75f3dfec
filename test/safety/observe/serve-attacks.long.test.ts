/** Clients that want to take the page away from others: the limits of `signalbox serve`. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { putTickets } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { askPage, startPage } from "../../../fixtures/page.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Connects from an address of its own. A connection that the server ends is no error. */
async function open(url: string, from: string, text = "") {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  socket.on("error", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  if (text !== "") socket.write(text);
  return socket;
}

/** Opens many connections, all at once. */
function openMany(url: string, from: string, count: number, text = "") {
  return Promise.all(Array.from({ length: count }, () => open(url, from, text)));
}

const countOpen = (sockets: readonly Socket[]) =>
  sockets.filter((socket) => !socket.closed && !socket.destroyed).length;

test.for([
  ["say nothing", ""],
  ["begin a request and never end it", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
  [
    "send a body that never ends",
    "POST /locks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n",
  ],
])("a thousand connections that %s do not keep others out, and end", async ([, text], { namespace }) => {
  const url = await startPage(namespace);
  const sockets = await openMany(url, "127.0.0.2", 1_000, text);
  for (const socket of sockets) socket.resume();
  await waitUntil("some were refused", () => countOpen(sockets) <= 600);
  const { status } = await askPage(url, "/locks", { localAddress: "127.0.0.3" });
  expect(status).toBe(200);
  await waitUntil("all have ended", () => countOpen(sockets) === 0);
  for (const socket of sockets) socket.destroy();
});

/** Reads a metric of the process. */
async function readMetric(url: string, name: string) {
  const { text } = await askPage(url, "/metrics", { localAddress: "127.0.0.3" });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

test("viewers that read nothing are disconnected, and cost no memory; others see changes", async ({
  namespace,
}) => {
  const key = namespace.keys.drain("lock", "x");
  const change = (round: number) =>
    namespace.put(key, serializeDrain({ by: "op", at: 1, why: `round ${round} `.padEnd(300_000, "x") }));
  await change(0);
  const url = await startPage(namespace);
  const ask = "GET /lock/x HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
  const sockets = await openMany(url, "127.0.0.2", 100, ask);
  for (const socket of sockets) socket.pause();
  await waitUntil("all are served", async () => (await readMetric(url, "process_open_fds")) > 100);
  let round = 0;
  await waitUntil("they were disconnected", async () => {
    round += 1;
    await change(round);
    await waitUntil("the change is shown", async () =>
      (await askPage(url, "/lock/x")).text.includes(`round ${round} xxx`),
    );
    expect(await readMetric(url, "process_resident_memory_bytes")).toBeLessThan(600_000_000);
    return (await readMetric(url, "process_open_fds")) < 100;
  });
  for (const socket of sockets) socket.destroy();
});

/** Counts the watches of etcd. */
async function countWatches(): Promise<number> {
  const text = await (await fetch(`${cluster.members[0]?.clientUrl}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_watcher_total (.*)$/m.exec(text)?.[1]);
}

test("there are at most three hundred viewers, with one watch; who is one too many is told so, and places become free", async ({
  namespace,
}) => {
  const url = await startPage(namespace);
  const watches = await countWatches();
  expect(watches).toBeGreaterThan(0);
  const ask = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
  const sockets = await openMany(url, "127.0.0.2", 300, ask);
  for (const socket of sockets) socket.resume();
  const accept = "text/event-stream";
  const { status } = await waitUntil("it is full", async () => {
    const answer = await askFirst(url, accept);
    return answer.status === 503 && answer;
  });
  expect(status).toBe(503);
  expect(await countWatches()).toBe(watches);
  expect((await askPage(url, "/")).status).toBe(200); // a page without changes is always there
  for (const socket of sockets) socket.destroy();
  await waitUntil("there is room", async () => (await askFirst(url, accept)).status === 200);
});

/** Asks for changes, and waits for the first ones only. */
async function askFirst(url: string, accept: string) {
  const stop = new AbortController();
  const { status } = await fetch(url, { headers: { accept }, signal: stop.signal });
  stop.abort();
  return { status };
}

test("readers that take a list slowly do not fill the memory, and are disconnected, whatever they send", async ({
  namespace,
}) => {
  await putTickets(namespace, 200, 40, "x".repeat(3_000));
  const url = await startPage(namespace);
  const ask = "GET /queues.json HTTP/1.1\r\nHost: localhost\r\n\r\n"; // 30 MB
  const sockets = await openMany(url, "127.0.0.2", 100, ask);
  for (const socket of sockets) socket.pause();
  await waitUntil("all are served", async () => (await readMetric(url, "process_open_fds")) > 100);
  await waitUntil("all have ended", async () => {
    for (const socket of sockets) if (socket.writable) socket.write("\r\n"); // so it is not silent
    expect(await readMetric(url, "process_resident_memory_bytes")).toBeLessThan(600_000_000);
    return (await readMetric(url, "process_open_fds")) < 100;
  });
  for (const socket of sockets) socket.destroy();
});
