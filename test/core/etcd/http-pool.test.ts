/** Connections of the HTTP transport to scripted servers. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConnectionPool } from "../../../src/core/etcd/http/connection.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const REQUEST = "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n";

describe("a pool of connections", () => {
  let server: Server;
  let pool: ConnectionPool;
  /** Connections that the server has, oldest first. */
  let peers: Socket[];
  /** The pool's own ends of them. */
  let dialled: Socket[];
  /** What the server does with the nth request of all. */
  let answer: (peer: Socket, nth: number) => void;
  beforeEach(async () => {
    peers = [];
    dialled = [];
    answer = (peer) => peer.write(OK);
    let requests = 0;
    server = createServer((peer) => {
      peers.push(peer);
      peer.on("error", () => {});
      peer.on("data", () => answer(peer, ++requests));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    pool = new ConnectionPool(() => {
      const socket = connect({ port, host: "127.0.0.1" });
      dialled.push(socket);
      return socket;
    });
  });
  afterEach(() => {
    pool.close();
    for (const peer of peers) peer.destroy();
    server.close();
  });
  const ask = (signal = new AbortController().signal) => pool.request(REQUEST, signal);

  it("uses one connection for one request after the other, and another for one beside it", async () => {
    for (let i = 0; i < 3; i += 1) expect(await ask()).toEqual({ status: 200, text: "ok" });
    expect(peers).toHaveLength(1);
    await Promise.all([ask(), ask()]);
    expect(peers).toHaveLength(2);
  });

  it.each<[what: string, says: string]>([
    ["says that it closes", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"],
    ["says more than it was asked", `${OK}${OK}`],
  ])("does not use a connection again whose server %s", async (_what, says) => {
    answer = (peer) => peer.write(says);
    expect((await ask()).text).toBe("ok");
    expect((await ask()).text).toBe("ok");
    expect(peers).toHaveLength(2);
  });

  it.each<[what: string, act: (peer: Socket) => void]>([
    ["closed", (peer) => peer.end()],
    ["reset", (peer) => peer.resetAndDestroy()],
    ["spoken to unasked", (peer) => peer.write("HTTP/1.1 408 Request Timeout\r\n\r\n")],
  ])("forgets a connection that was %s while it was idle", async (_what, act) => {
    await ask();
    const [peer] = peers;
    const [own] = dialled;
    if (peer === undefined || own === undefined) throw new Error("nobody came");
    act(peer);
    await new Promise((closed) => own.once("close", closed));
    expect((await ask()).text).toBe("ok");
    expect(peers).toHaveLength(2);
  });

  it.each<[what: string, act: (peer: Socket) => void]>([
    ["closes instead of answering", (peer) => peer.end()],
    ["closes in mid-answer", (peer) => peer.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")],
    ["resets", (peer) => peer.resetAndDestroy()],
  ])("fails a request, and sends it no second time, when the server %s", async (_what, act) => {
    let asked = 0;
    answer = (peer) => {
      asked += 1;
      act(peer);
    };
    await expect(ask()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(asked).toBe(1);
  });

  it("takes what came before the connection's end for the answer where that has no length", async () => {
    answer = (peer) => peer.end("HTTP/1.1 400 Bad Request\r\n\r\nsome page");
    expect(await ask()).toEqual({ status: 400, text: "some page" });
  });

  it("ends the connection of a request that is given up: its answer must not be the next one's", async () => {
    answer = (peer, nth) => {
      if (nth > 1) peer.write(OK);
    };
    const stop = new AbortController();
    const given = ask(stop.signal);
    setTimeout(() => stop.abort("enough"), 20);
    await expect(given).rejects.toBe("enough");
    await expect(ask(AbortSignal.abort("too late"))).rejects.toBe("too late");
    expect((await ask()).text).toBe("ok");
  });

  it("opens new connections once the idle ones were dropped, and fails what is under way when it closes", async () => {
    await ask();
    pool.dropIdle();
    await ask();
    expect(peers).toHaveLength(2);
    answer = () => pool.close();
    await expect(ask()).rejects.toThrow("closed");
  });
});
