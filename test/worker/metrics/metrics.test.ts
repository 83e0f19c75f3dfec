import http from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { buildEnded, buildSkipped, buildStarted, Warnings } from "../../../fixtures/worker/events.ts";
import { formatListenAddress, parseListenAddress } from "../../../src/worker/metrics/listen-address.ts";
import { startMetrics } from "../../../src/worker/metrics/metrics.ts";

async function serveTestMetrics(more: { findFault?(): string | undefined; countHeldLeases?(): number } = {}) {
  const made = await startMetrics({ listen: "0", log: new Warnings(), findFault: () => undefined, ...more });
  onTestFinished(() => made.close());
  return made;
}

interface Answer {
  code: number | undefined;
  headers: http.IncomingHttpHeaders;
  text: string;
}

function get(port: number, path: string, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = http.request({ host: "127.0.0.1", port, path, method, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (more: string) => {
        text += more;
      });
      answer.on("end", () => resolve({ code: answer.statusCode, headers: answer.headers, text }));
    });
    call.on("error", reject).end();
  });
}

test("what a worker tells is counted", async () => {
  const { countEvent, countHook, address } = await serveTestMetrics({ countHeldLeases: () => 3 });
  countEvent({ kind: "load", running: 2, concurrency: 8 });
  countEvent({ kind: "clock", state: "refuses", skew: 6_500 });
  countEvent({ kind: "lostChanges", keys: 3 });
  countEvent(buildStarted());
  countEvent(buildStarted({ attempt: 2, late: 61_000 }));
  countEvent(buildEnded());
  countEvent(buildEnded({ result: "failed" }, { again: 1 }));
  countEvent(buildEnded({ result: "timeout" }, { isDead: true }));
  countEvent(buildEnded({ result: "retry" }, { again: 1 }));
  countEvent(buildSkipped(5));
  countEvent({ kind: "unknown", id: "x", type: "x" });
  countHook("dropped");
  const { text } = await get(address.port, "/metrics");
  for (const line of [
    'fired_total{type="mail"} 2',
    'ended_total{type="mail",result="ok"} 1',
    'ended_total{type="mail",result="retry"} 1',
    'failed_total{type="mail"} 2',
    'retried_total{type="mail"} 2',
    'dead_total{type="mail"} 1',
    'skipped_total{type="mail"} 5',
    'hooks_total{result="dropped"} 1',
    'late_seconds_bucket{le="0.05",type="mail"} 1',
    'late_seconds_bucket{le="60",type="mail"} 1',
    'late_seconds_bucket{le="300",type="mail"} 2',
    'late_seconds_sum{type="mail"} 61.02',
    'duration_seconds_sum{type="mail"} 8',
    "running 2",
    "concurrency 8",
    "clock_skew_seconds 6.5",
    "clock_trusted 0",
    "lost_changes_total 3",
    "held_leases 3",
  ])
    expect(text).toContain(`\nsignalbox_worker_${line}\n`);
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
});

test("types are labels, however they are written, and only so many of them", async () => {
  const { countEvent, address } = await serveTestMetrics();
  countEvent(buildStarted({ type: 'a"b\\c\nd' }));
  countEvent(buildStarted({ type: "x".repeat(101) }));
  for (let i = 0; i < 1_000; i += 1) countEvent(buildStarted({ type: `type ${i}` }));
  const { text } = await get(address.port, "/metrics");
  const fired = text.split("\n").filter((line) => line.startsWith("signalbox_worker_fired_total{"));
  expect(fired).toContain('signalbox_worker_fired_total{type="a\\"b\\\\c\\nd"} 1');
  expect(fired).toContain('signalbox_worker_fired_total{type="other"} 802');
  expect(fired).toHaveLength(201);
});

test("the server says how the worker is, and nothing else", async () => {
  let illness: string | undefined;
  const { address } = await serveTestMetrics({ findFault: () => illness });
  const { port } = address;
  expect(await get(port, "/healthz")).toMatchObject({ code: 200, text: "ok\n" });
  illness = "the session is not renewed";
  expect(await get(port, "/healthz?x=1")).toMatchObject({ code: 503, text: "the session is not renewed\n" });
  expect(await get(port, "/metrics", "HEAD")).toMatchObject({ code: 200, text: "" });
  const { headers } = await get(port, "/metrics");
  expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await get(port, "/etc/passwd")).toMatchObject({ code: 404 });
  expect(await get(port, "/metrics", "POST")).toMatchObject({ code: 405 });
});

test("what is no HTTP, and a head without an end, harm nobody", async () => {
  const { address } = await serveTestMetrics();
  const socket = connect(address.port, "127.0.0.1");
  const ended = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {}).resume();
  socket.write(`GET /metrics HTTP/1.1\r\nx: ${"y".repeat(20_000)}`);
  await ended;
  expect(await get(address.port, "/healthz")).toMatchObject({ code: 200 });
});

test.each([
  [":9464", undefined, 9464, ":9464"],
  ["9464", "127.0.0.1", 9464, "127.0.0.1:9464"],
  ["web1:0", "web1", 0, "web1:0"],
  ["[::1]:9464", "::1", 9464, "[::1]:9464"],
  ["0.0.0.0:65535", "0.0.0.0", 65_535, "0.0.0.0:65535"],
])("%s is an address", (text, host, port, shown) => {
  expect(parseListenAddress(text)).toEqual({ host, port });
  expect(formatListenAddress(parseListenAddress(text))).toBe(shown);
});

test.each(["", ":", ":x", "web1:", ":65536", "::1:80", "a b:1", "http://x:1", ":1/"])(
  "%j is none",
  (text) => {
    expect(() => parseListenAddress(text)).toThrow("not an address to listen on");
  },
);

test("half-open requests of one address leave places to others, and are closed soon", async () => {
  const { address } = await serveTestMetrics();
  const sockets = Array.from({ length: 60 }, () => {
    const socket = connect({ port: address.port, host: "127.0.0.1", localAddress: "127.0.0.2" })
      .on("error", () => {})
      .resume();
    socket.write("GET /metrics HTTP/1.1\r\n"); // and no end of the head
    return { socket, closed: new Promise((resolve) => socket.once("close", resolve)) };
  });
  onTestFinished(() => {
    for (const { socket } of sockets) socket.destroy();
  });
  await Promise.all(sockets.slice(16).map(({ closed }) => closed));
  expect(sockets.filter(({ socket }) => !socket.destroyed)).toHaveLength(16);
  expect(await get(address.port, "/metrics")).toMatchObject({ code: 200 });
  const start = performance.now();
  await Promise.all(sockets.map(({ closed }) => closed));
  expect(performance.now() - start).toBeLessThan(9_000); // the head is awaited for 5 s
});
