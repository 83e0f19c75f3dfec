/** Locks and leases of the library: with each other, with the command line, and with an etcd that fails. */

import { setTimeout as pause, setImmediate as waitForImmediate } from "node:timers/promises";
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  type AcquireOptions,
  BusyError,
  ClaimLostError,
  ClosedError,
  type ConnectOptions,
  connect,
  type Held,
  UnreachableError,
} from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const waitForever = () => new Promise<never>(() => {});
const waitUntilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

describe.concurrent("a lock of the library", () => {
  test("is held by one of two connections at a time, with tokens that grow", async ({ namespace }) => {
    const boxes = [await connectLibrary(namespace), await connectLibrary(namespace, { transport: "grpc" })];
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
    expect(await namespace.readQueue("x")).toEqual([]);
  });

  test("excludes runs, and is excluded by them", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    expect(await one.withLock("x", () => namespace.run("--lock x"))).toExit(75, { stdout: "" });
    const run = await namespace.startHolder("--lock x");
    const refusal = await one.withLock("x", () => "ran").catch((error) => error);
    expect(refusal).toBeInstanceOf(BusyError);
    expect(refusal).toMatchObject({
      code: "BUSY",
      kind: "busy",
      message: expect.stringContaining('"x" is held'),
    });
    run.kill("SIGTERM");
    expect(await one.withLock("x", { wait: true }, () => "ran")).toBe("ran");
  });

  test("may be shared: by connections and runs that share it, and by no other", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.withLock("x", { shared: true }, async () => {
      expect(await one.withLock("x", { shared: true }, (held) => held.isCurrent())).toBe(true);
      expect(await namespace.run("--lock x --shared")).toExit(0);
      expect(await namespace.run("--lock x")).toExit(75);
      await expect(one.withLock("x", () => "ran")).rejects.toBeInstanceOf(BusyError);
    });
    expect(await one.withLock("x", () => "ran")).toBe("ran");
    await expect(one.withLeases(["db=1:1"], { shared: true }, () => "ran")).rejects.toThrow(
      "only with a lock",
    );
  });

  test("may be several: all or none", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    await one.withLock(["x", "y"], async ({ lock, token }) => {
      expect(lock).toBe("x");
      expect(String((await namespace.readQueue("y"))[0]?.createRevision)).toBe(token);
      await expect(one.withLock("y", () => "ran")).rejects.toMatchObject({
        kind: "busy",
        message: expect.stringContaining('"y" is held'),
      });
      await expect(one.acquire({ lock: ["z", "y"] })).rejects.toBeInstanceOf(BusyError);
    });
    expect(await one.withLock(["y", "z"], () => "ran")).toBe("ran");
    expect(await namespace.readQueue("z")).toEqual([]);
  });

  test("is in the listing and in the history, with how it went", async ({ namespace }) => {
    const one = await connectLibrary(namespace, { label: "nightly" });
    const { stdout } = await one.withLock("x", () => namespace.execute("ls"));
    expect(stdout).toMatch(/lock +x +held.*nightly/);
    const failure = new Error("no");
    await expect(one.withLock("x", () => Promise.reject(failure))).rejects.toBe(failure);
    expect(
      (await namespace.executeJson("ls history x")).rows.map(({ exit }: { exit: number }) => exit),
    ).toEqual([1, 0]);
  });

  test("is freed before the call ends, also when its work fails", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const failure = new Error("no");
    let held: Held | undefined;
    const failing = one.withLock("x", (claim) => {
      held = claim;
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    const freed = held?.release().then(() => "freed");
    expect(await Promise.race([freed, waitForImmediate("held")])).toBe("freed");
    expect(await namespace.readQueue("x")).toEqual([]);
  });

  test("fires its signal on a reset, and stays until its work has ended", async ({ namespace }) => {
    const one = await connectLibrary(namespace, { terminationTimeout: "20s" }); // its work is not late
    const gate = Promise.withResolvers<void>();
    const fired = Promise.withResolvers<unknown>();
    const working = one.withLock("x", async ({ signal }) => {
      await waitUntilAborted(signal);
      fired.resolve(signal.reason);
      await gate.promise;
    });
    working.catch(() => {});
    await namespace.waitForQueue("x", 1);
    const reset = namespace.start("reset lock x --yes --reason stuck --no-wait");
    expect(await fired.promise).toMatchObject({
      kind: "asked",
      message: expect.stringMatching(/reset by.*stuck/),
    });
    expect(await namespace.readQueue("x")).toHaveLength(1);
    gate.resolve();
    await expect(working).rejects.toBeInstanceOf(ClaimLostError);
    expect(await namespace.readQueue("x")).toEqual([]);
    await reset.ended;
  });

  test("that is taken away rejects although its work does not listen", async ({ namespace }) => {
    const one = await connectLibrary(namespace, { terminationTimeout: 100, ttl: "5s" });
    const working = one.withLock("x", waitForever);
    working.catch(() => {});
    const [entry] = await waitUntil("the lock", async () => {
      const queue = await namespace.readQueue("x");
      return queue[0]?.ticket?.state === "held" && queue; // before that, it would only claim anew
    });
    await namespace.delete(entry?.key ?? "");
    await expect(working).rejects.toMatchObject({ code: "CLAIM_LOST", kind: "gone" });
  });

  test("is left by a run that stops waiting, without a ticket", async ({ namespace }) => {
    const [one, other] = [await connectLibrary(namespace), await connectLibrary(namespace)];
    const held = await one.acquire({ lock: "x" });
    const leaving = new AbortController();
    const waiting = other.acquire({ lock: "x", wait: true, signal: leaving.signal });
    waiting.catch(() => {});
    await namespace.waitForQueue("x", 2);
    const why = new Error("no patience");
    leaving.abort(why);
    await expect(waiting).rejects.toBe(why);
    expect(await namespace.readQueue("x")).toHaveLength(1);
    await Promise.all([held.release(), held.release()]);
    expect(held.signal.aborted).toBe(false);
    expect(await namespace.listKeys()).toEqual([
      expect.objectContaining({ key: namespace.keys.history("x") }),
    ]);
    const gone = AbortSignal.abort(why);
    await expect(other.acquire({ lock: "x", signal: gone })).rejects.toBe(why);
  });

  test("is freed when the connection is closed: held, worked under, or waited for", async ({ namespace }) => {
    const [one, other] = [
      await connectLibrary(namespace),
      await connectLibrary(namespace, { terminationTimeout: 100 }),
    ];
    await one.acquire({ lock: "held" });
    const heard = one.withLock("worked", ({ signal }) => waitUntilAborted(signal));
    const deaf = other.withLock("deaf", waitForever);
    await waitUntil("all three", async () => {
      const queues = await Promise.all(["held", "worked", "deaf"].map((name) => namespace.readQueue(name)));
      return queues.every(({ length }) => length === 1);
    });
    const waiting = one.acquire({ lock: "deaf", wait: true });
    await namespace.waitForQueue("deaf", 2);
    const ends = Promise.allSettled([heard, deaf, waiting]);
    await Promise.all([one.close(), one.close(), other.close()]);
    const lost = { status: "rejected", reason: expect.objectContaining({ kind: "closed" }) };
    const closed = { status: "rejected", reason: expect.any(ClosedError) };
    expect(await ends).toEqual([lost, lost, closed]);
    for (const name of ["held", "worked", "deaf"]) expect(await namespace.readQueue(name)).toEqual([]);
    await expect(one.withLock("x", () => {})).rejects.toBeInstanceOf(ClosedError);
  });
});

describe.concurrent("leases of the library", () => {
  test("never pass the total, beside a run", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const run = await namespace.startHolder("--no-lock --lease db=2:3");
    expect(await one.withLeases(["db=1:3"], () => "fits")).toBe("fits");
    await expect(one.withLeases(["db=2:3"], { wait: false }, () => {})).rejects.toMatchObject({
      kind: "timeout",
    });
    await expect(one.withLeases(["db=2:3"], { wait: 50 }, () => {})).rejects.toBeInstanceOf(BusyError);
    expect(await namespace.readQueue("db", "resource")).toHaveLength(1);
    const waiting = one.withLeases(["db=2:3"], () => "granted");
    await namespace.waitForQueue("db", 2, "resource");
    run.kill("SIGTERM");
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
    expect(await wrong({ user: "u", password: "p" })).not.toMatch('"p"');
  });

  test("says what is wrong with a claim", async () => {
    const one = await connectLibrary(cluster.createNamespace());
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
    const runWithOptions = (options: object) => one.withLock("x", options, () => "ran").catch(String);
    expect(await runWithOptions({ waitt: true })).toMatch(/^ConfigError: unknown option "waitt" of withLock/);
    expect(await runWithOptions({ lock: "y" })).toMatch(/^ConfigError: unknown option "lock" of withLock/);
  });

  test("to nobody fails in its time, with a class of its own", async () => {
    const one = await connect({ endpoints: ["http://127.0.0.1:1"], env: {}, connectTimeout: 200 });
    const error = await one.withLock("x", () => {}).catch((reason) => reason);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ code: "UNREACHABLE", exitCode: 69 });
    await one.close();
  });
});

test("an etcd that stops: ends a claim before anybody else can have it", async () => {
  const lonely = await startEtcd();
  const one = await connect({ endpoints: lonely.endpoints, env: {}, ttl: "3s", terminationTimeout: 500 });
  try {
    const held = await one.acquire({ lock: "x" });
    lonely.freeze();
    await waitUntilAborted(held.signal);
    expect(held.signal.reason).toMatchObject({ kind: "horizon", code: "CLAIM_LOST" });
  } finally {
    lonely.unfreeze();
    await one.close();
    await lonely.stop();
  }
});

describe.concurrent("watchLock", () => {
  test("tells who holds the lock, from the first holder to the last", async ({ namespace }) => {
    const [one, other] = [await connectLibrary(namespace), await connectLibrary(namespace)];
    const watch = (await connectLibrary(namespace)).watchLock("leader");
    const readNext = async () => (await watch.next()).value;
    expect(await readNext()).toBeUndefined();
    const first = await one.acquire({ lock: "leader", label: "one" });
    expect(await readNext()).toMatchObject({
      run: first.run,
      token: first.token,
      pid: process.pid,
      label: "one",
    });
    const waiting = other.acquire({ lock: "leader", wait: true });
    await first.release();
    const second = await waiting;
    let holder = await readNext();
    if (holder === undefined) holder = await readNext(); // between the two, nobody holds it
    expect(holder).toMatchObject({ run: second.run, token: second.token });
    await second.release();
    expect(await readNext()).toBeUndefined();
    await watch.return(undefined as never);
  });

  test("ends with its signal, and with its connection", async () => {
    const one = await connectLibrary(cluster.createNamespace());
    const over = new AbortController();
    const reason = new Error("enough");
    const watches = [one.watchLock("a", { signal: over.signal }), one.watchLock("a")];
    for (const watch of watches) expect((await watch.next()).value).toBeUndefined();
    const [first, second] = watches.map((watch) => watch.next());
    over.abort(reason);
    await expect(first).rejects.toBe(reason);
    const ended = second?.catch((error: unknown) => error);
    await one.close();
    expect(await ended).toMatchObject({ code: "CLOSED" });
  });

  test("refuses a wrong name, and a closed connection", async () => {
    const one = await connectLibrary(cluster.createNamespace());
    await expect(one.watchLock("").next()).rejects.toMatchObject({ code: "USAGE" });
    await one.close();
    await expect(one.watchLock("a").next()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
