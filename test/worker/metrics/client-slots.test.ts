import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { expect, test } from "vitest";
import { limitClients } from "../../../src/worker/metrics/metrics-server.ts";

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  isDestroyed = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy() {
    this.isDestroyed = true;
    this.emit("close");
  }
}

function connectFrom(server: EventEmitter, addresses: readonly string[]) {
  return addresses.map((address) => {
    const socket = new FakeSocket(address);
    server.emit("connection", socket);
    return socket;
  });
}

test.each([
  ["one IPv4 address", () => "10.0.0.1"],
  ["one IPv6 network of 64 bits", (at: number) => `2001:db8::1:${at}`],
  ["the same, written in full", (at: number) => `2001:db8:0:0:${at}:2:3:4`],
])("%s has 16 places, and gets one back when a connection ends", (_, buildAddress) => {
  const server = new EventEmitter();
  limitClients(server as Server);
  const sockets = connectFrom(
    server,
    Array.from({ length: 20 }, (__, at) => buildAddress(at)),
  );
  expect(sockets.map(({ isDestroyed }) => isDestroyed).lastIndexOf(false)).toBe(15);
  expect(connectFrom(server, ["10.0.0.2", "2001:db8:1::1"]).map(({ isDestroyed }) => isDestroyed)).toEqual([
    false,
    false,
  ]);
  sockets[0]?.destroy();
  const [next, after] = connectFrom(server, [buildAddress(0), buildAddress(1)]);
  expect([next?.isDestroyed, after?.isDestroyed]).toEqual([false, true]);
});
