/** A watch of the holder of a lock. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile({ sessionTimes: "long" });
const { test } = cluster;
const connectTo = (namespace = cluster.createNamespace()) => connectLibrary(namespace);

describe.concurrent("watchLock", () => {
  test("tells who holds the lock, from the first holder to the last", async ({ namespace }) => {
    const [one, other] = [await connectTo(namespace), await connectTo(namespace)];
    const watch = (await connectTo(namespace)).watchLock("leader");
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
    const one = await connectTo();
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
    const one = await connectTo();
    await expect(one.watchLock("").next()).rejects.toMatchObject({ code: "USAGE" });
    await one.close();
    await expect(one.watchLock("a").next()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
