/** A hostile web server harms neither the worker nor those who read the outcome. */
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { createHandlerFixture, createTask } from "../../../fixtures/worker/handler-fixture.ts";
import { readHttpSpec, startRawServer, startWebServer } from "../../../fixtures/worker/http-fixture.ts";
import { HttpHandler } from "../../../src/worker/handlers/http-handler.ts";

/** Writes again and again until the other side closes. */
function writeForever(socket: Socket, text: string, head = "") {
  socket.write(head);
  const write = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on("drain", write);
  write();
}

function writeSlowly(socket: Socket, text: string, head: string) {
  socket.write(head);
  const timer = setInterval(() => socket.write(text), 20);
  socket.once("close", () => clearInterval(timer));
}

const HEAD = "HTTP/1.1 200 OK\r\n";

async function runAgainst(write: (socket: Socket) => void, more: object = {}, timeout = 120_000) {
  const { ports, lines } = createHandlerFixture();
  const { url, waitUntilClosed } = await startRawServer(write);
  const handler = new HttpHandler(ports, { http: readHttpSpec({ url, ...more }), timeout });
  const result = await handler.run(createTask());
  await waitUntilClosed(); // nothing of the request is left
  return { ...result, lines };
}

test("an endless body is cut off, and the status decides", async () => {
  const {
    result,
    tail = "",
    lines,
  } = await runAgainst((socket) => {
    socket.write(`${HEAD}\r\n`);
    writeForever(socket, "abcdefg\n".repeat(1_000));
  });
  expect(result).toBe("ok");
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(4_096);
  expect(lines.join("").length).toBeLessThan(70_000);
});

test("an endless body in pieces of one byte is cut off too", async () => {
  const { result, code, tail } = await runAgainst((socket) => {
    socket.write("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n");
    writeForever(socket, "1\r\nx\r\n".repeat(10_000));
  });
  expect([result, code, tail]).toEqual(["failed", 500, "x".repeat(4_096)]);
});

test.each<[string, (socket: Socket) => void]>([
  ["says nothing", () => {}],
  ["sends its body slowly", (socket) => writeSlowly(socket, "x", `${HEAD}\r\n`)],
  [
    "sends less than it has promised",
    (socket) => void socket.write(`${HEAD}Content-Length: 1000\r\n\r\nshort`),
  ],
  ["sends a header slowly", (socket) => writeSlowly(socket, "a: b\r\n", HEAD)],
])("a server that %s is left at the timeout", async (_, write) => {
  const { result } = await runAgainst(write, {}, 400);
  expect(result).toBe("timeout");
});

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["huge headers", (socket) => writeForever(socket, "x".repeat(10_000), `${HEAD}a: `), /overflow/i],
  ["many headers", (socket) => writeForever(socket, "a: b\r\n".repeat(1_000), HEAD), /overflow/i],
  [
    "huge trailers",
    (socket) => {
      socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`);
      writeForever(socket, "a: b\r\n".repeat(1_000));
    },
    /overflow|aborted/i,
  ],
  [
    "endless interim responses",
    (socket) => writeForever(socket, "HTTP/1.1 102 Processing\r\n\r\n".repeat(100)),
    /too many interim responses/,
  ],
  ["another protocol", (socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"), /Parse Error/],
  [
    "a change of the protocol",
    (socket) =>
      void socket.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    /the server changed the protocol/,
  ],
  ["a closed connection", (socket) => void socket.destroy(), /socket hang up|ECONNRESET/],
  [
    "a body that ends too early",
    (socket) => void socket.end(`${HEAD}Content-Length: 1000\r\n\r\nshort`),
    /aborted/,
  ],
])("%s is a failure", async (_, write, reason) => {
  const failed = await runAgainst(write);
  expect(failed).toMatchObject({ result: "failed", reason: expect.stringMatching(reason) });
});

test("a circle of redirects ends", async () => {
  const { ports } = createHandlerFixture();
  const { url, requests } = await startWebServer(
    (response) => void response.writeHead(302, { location: "/" }).end(),
  );
  const handler = new HttpHandler(ports, { http: readHttpSpec({ url, redirects: 3 }) });
  expect(await handler.run(createTask())).toMatchObject({ result: "failed", code: 302 });
  expect(requests).toHaveLength(4);
});

test("escape sequences and bytes that are no text become harmless", async () => {
  const bad = Buffer.concat([
    Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256)),
    Buffer.from("\n\x1b[31mred\x1b[0m \x1b]0;title\x07\u202e\x9b2Jx\n"),
  ]);
  const {
    tail = "",
    lines,
    reason,
  } = await runAgainst((socket) => {
    socket.end(Buffer.concat([Buffer.from("HTTP/1.1 418 \x1b[31mx\r\n\r\n"), bad]));
  });
  expect(`${lines.join("")}${tail.replaceAll("\n", "")}`).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
  expect(tail.split("\n").at(-1)).toBe("red \\u{202e}x");
  expect(reason).toBe("it answered 418 I'm a Teapot");
});

test("the worker's own secrets, sent back, appear in neither the tail nor the reason", async () => {
  const { ports, lines } = createHandlerFixture({ secrets: ["hunter2"] });
  const { url } = await startWebServer(
    (response) => void response.writeHead(302, { location: "http://hunter2.example/" }).end("hunter2"),
  );
  const handler = new HttpHandler(ports, { http: readHttpSpec(url) });
  const result = await handler.run(createTask());
  expect(JSON.stringify([result, lines])).not.toContain("hunter2");
});
