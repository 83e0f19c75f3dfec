// Covers src/library/claims.ts, src/library/connection.ts, src/library/options.ts
/** Locks and leases of the library, against each other, the command line, and an etcd that fails. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import {
  type AcquireOptions,
  BusyError,
  ClaimLostError,
  ClosedError,
  type ConnectOptions,
  connect,
  type Signalbox,
  UnreachableError,
} from "../../src/library/index.ts";
import { eventually, House, type Room } from "./support/house.ts";

let etcd: EtcdMember;
let house: House;
const open: Signalbox[] = [];
beforeAll(async () => {
  etcd = await startEtcd();
  house = await House.open(etcd.endpoints);
});
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await house?.close();
  await etcd?.stop();
});

async function box({ prefix, env }: Room, options: ConnectOptions = {}): Promise<Signalbox> {
  const one = await connect({ endpoints: etcd.endpoints, prefix, env, ...options });
  open.push(one);
  return one;
}

const never = () => new Promise<never>(() => {});
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

describe.concurrent("a lock of the library", () => {
  test("is held by one of two connections at a time, with tokens that grow", async () => {
    const room = house.room();
    const boxes = [await box(room), await box(room, { transport: "grpc" })];
    let inside = 0;
    const tokens: bigint[] = [];
    const work = async ({ token }: { token: string }) => {
      inside += 1;
      expect(inside).toBe(1);
      tokens.push(BigInt(token));
      await pause(5);
      inside -= 1;
    };
    const turns = Array.from({ length: 20 }, (_, turn) =>
      boxes[turn % 2]?.withLock("x", { wait: true }, work),
    );
    await Promise.all(turns);
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)));
    expect(new Set(tokens).size).toBe(20);
    expect(await room.queue("x")).toEqual([]);
  });

  test("excludes runs, and is excluded by them", async () => {
    const room = house.room();
    const one = await box(room);
    const ended = await one.withLock("x", () => room.run(["--lock", "x"], ["true"]).ended);
    expect(ended).toMatchObject({ code: 75, stdout: "" });
    const run = room.run(["--lock", "x"], ["sh", "-c", "echo up; exec sleep 1000"]);
    await run.waitForOutput(/up/);
    const refusal = await one.withLock("x", () => "ran").catch((error) => error);
    expect(refusal).toBeInstanceOf(BusyError);
    expect(refusal).toMatchObject({
      code: "BUSY",
      kind: "busy",
      message: expect.stringMatching(/"x" is held/),
    });
    run.child.kill("SIGTERM");
    expect(await one.withLock("x", { wait: true }, () => "ran")).toBe("ran");
  });

  test("is in the listing and in the history, with how it went", async () => {
    const room = house.room();
    const one = await box(room, { label: "nightly" });
    const { stdout } = await one.withLock("x", () => room.ended(["ls"]));
    expect(stdout).toMatch(/lock +x +held.*nightly/);
    const failure = new Error("no");
    await expect(one.withLock("x", () => Promise.reject(failure))).rejects.toBe(failure);
    const { stdout: json } = await room.ended(["history", "x", "--json"]);
    expect(JSON.parse(json).runs.map(({ exit }: { exit: number }) => exit)).toEqual([1, 0]);
  });

  test("fires its signal on a reset, and stays until its work has ended", async () => {
    const room = house.room();
    const one = await box(room);
    const gate = Promise.withResolvers<void>();
    const fired = Promise.withResolvers<unknown>();
    const working = one.withLock("x", async ({ signal }) => {
      await aborted(signal);
      fired.resolve(signal.reason);
      await gate.promise;
    });
    working.catch(() => {});
    await eventually("the lock", async () => (await room.queue("x")).length === 1);
    const reset = room.cli(["reset", "lock", "x", "--yes", "--reason", "stuck", "--no-wait"]);
    expect(await fired.promise).toMatchObject({
      kind: "asked",
      message: expect.stringMatching(/reset by.*stuck/),
    });
    expect(await room.queue("x")).toHaveLength(1);
    gate.resolve();
    await expect(working).rejects.toBeInstanceOf(ClaimLostError);
    expect(await room.queue("x")).toEqual([]);
    await reset.ended;
  });

  test("that is taken away rejects although its work does not listen", async () => {
    const room = house.room();
    const one = await box(room, { terminationTimeout: 100, ttl: "5s" });
    const working = one.withLock("x", never);
    working.catch(() => {});
    const [place] = await eventually("the lock", async () => {
      const queue = await room.queue("x");
      return queue.length === 1 && queue;
    });
    await room.delete(place?.key ?? "");
    await expect(working).rejects.toMatchObject({ code: "CLAIM_LOST", kind: "gone" });
  });

  test("is left by whoever stops waiting, without a ticket", async () => {
    const room = house.room();
    const [one, other] = [await box(room), await box(room)];
    const held = await one.acquire({ lock: "x" });
    const leaving = new AbortController();
    const waiting = other.acquire({ lock: "x", wait: true, signal: leaving.signal });
    waiting.catch(() => {});
    await eventually("a waiter", async () => (await room.queue("x")).length === 2);
    const why = new Error("no patience");
    leaving.abort(why);
    await expect(waiting).rejects.toBe(why);
    expect(await room.queue("x")).toHaveLength(1);
    await Promise.all([held.release(), held.release()]);
    expect(held.signal.aborted).toBe(false);
    expect(await room.everything()).toEqual([expect.objectContaining({ key: room.keys.history("x") })]);
    const gone = AbortSignal.abort(why);
    await expect(other.acquire({ lock: "x", signal: gone })).rejects.toBe(why);
  });

  test("is freed when the connection is closed: held, worked under, or waited for", async () => {
    const room = house.room();
    const [one, other] = [await box(room), await box(room, { terminationTimeout: 100 })];
    await one.acquire({ lock: "held" });
    const heard = one.withLock("worked", ({ signal }) => aborted(signal));
    const deaf = other.withLock("deaf", never);
    await eventually("all three", async () => {
      const queues = await Promise.all(["held", "worked", "deaf"].map((name) => room.queue(name)));
      return queues.every(({ length }) => length === 1);
    });
    const waiting = one.acquire({ lock: "deaf", wait: true });
    await eventually("a waiter", async () => (await room.queue("deaf")).length === 2);
    const ends = Promise.allSettled([heard, deaf, waiting]);
    await Promise.all([one.close(), one.close(), other.close()]);
    const lost = { status: "rejected", reason: expect.objectContaining({ kind: "closed" }) };
    const closed = { status: "rejected", reason: expect.any(ClosedError) };
    expect(await ends).toEqual([lost, lost, closed]);
    for (const name of ["held", "worked", "deaf"]) expect(await room.queue(name)).toEqual([]);
    await expect(one.withLock("x", () => {})).rejects.toBeInstanceOf(ClosedError);
  });
});

describe.concurrent("leases of the library", () => {
  test("never pass the total, beside a run", async () => {
    const room = house.room();
    const one = await box(room);
    const run = room.run(["--no-lock", "--lease", "db=2:3"], ["sh", "-c", "echo up; exec sleep 1000"]);
    await run.waitForOutput(/up/);
    expect(await one.withLeases(["db=1:3"], () => "fits")).toBe("fits");
    await expect(one.withLeases(["db=2:3"], { wait: false }, () => {})).rejects.toMatchObject({
      kind: "timeout",
    });
    await expect(one.withLeases(["db=2:3"], { wait: 50 }, () => {})).rejects.toBeInstanceOf(BusyError);
    expect(await room.queue("db", "resource")).toHaveLength(1);
    const waiting = one.withLeases(["db=2:3"], () => "granted");
    await eventually("a waiter", async () => (await room.queue("db", "resource")).length === 2);
    run.child.kill("SIGTERM");
    expect(await waiting).toBe("granted");
  });
});

describe.concurrent("connecting", () => {
  test("says what is wrong with an option, before anything is reached", async () => {
    const wrong = (options: unknown) => connect({ env: {}, ...(options as ConnectOptions) }).catch(String);
    expect(await wrong({ endpoint: "x" })).toMatch(
      /^ConfigError: unknown option "endpoint" of connect.*"endpoints"/,
    );
    expect(await wrong({ ttl: 1500 })).toMatch(/^ConfigError: option ttl: .*too short/);
    expect(await wrong({ prefix: "x" })).toMatch(/^ConfigError: option prefix: "x" cannot be used/);
    expect(await wrong({ env: { SIGNALBOX_TTL: "soon" } })).toMatch(/^ConfigError: SIGNALBOX_TTL: "soon"/);
    expect(await wrong({ user: "u", password: "p" })).not.toMatch(/"p"/);
  });

  test("says what is wrong with a claim", async () => {
    const one = await box(house.room());
    const wrong = (options: AcquireOptions) => one.acquire(options).catch(String);
    expect(await wrong({})).toMatch(/^UsageError: there is nothing to claim/);
    expect(await wrong({ lock: "" })).toMatch(/^UsageError: lock name ""/);
    expect(await wrong({ leases: ["db"] })).toMatch(/^UsageError: .*"db"/);
    expect(await wrong({ lock: "x", ttl: "2s", terminationTimeout: "9s" })).toMatch(
      /^ConfigError: terminationTimeout 9s does not fit/,
    );
    expect(await wrong({ lock: "x", wait: "soon" })).toMatch(/^ConfigError: wait: "soon"/);
    expect(await wrong({ lock: "x", waits: true } as object)).toMatch(
      /^ConfigError: unknown option "waits" of acquire; did you mean "wait"\?/,
    );
    const within = (options: object) => one.withLock("x", options, () => "ran").catch(String);
    expect(await within({ waitt: true })).toMatch(/^ConfigError: unknown option "waitt" of withLock/);
    expect(await within({ lock: "y" })).toMatch(/^ConfigError: unknown option "lock" of withLock/);
  });

  test("to nobody fails in its time, with a class of its own", async () => {
    const one = await connect({ endpoints: ["http://127.0.0.1:1"], env: {}, connectTimeout: 200 });
    const error = await one.withLock("x", () => {}).catch((reason) => reason);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ code: "UNREACHABLE", exitCode: 69 });
    await one.close();
  });
});

describe("an etcd that stops", () => {
  test("ends a claim before anybody else can have it", async () => {
    const lonely = await startEtcd();
    const one = await connect({ endpoints: lonely.endpoints, env: {}, ttl: "3s", terminationTimeout: 500 });
    try {
      const held = await one.acquire({ lock: "x" });
      lonely.freeze();
      await aborted(held.signal);
      expect(held.signal.reason).toMatchObject({ kind: "horizon", code: "CLAIM_LOST" });
    } finally {
      lonely.thaw();
      await one.close();
      await lonely.stop();
    }
  });
});
