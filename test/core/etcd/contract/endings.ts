import { expect, it } from "vitest";
import {
  catchErrorKind,
  createId,
  createPrefix,
  put,
  type Subject,
  write,
} from "../../../../fixtures/etcd/store-calls.ts";

/** How calls and stores end. */
export function testEndings(on: Subject): void {
  it("ends a watch at once, with the signal's reason", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const next = on.store
      .watch({ ranges: [{ key: createPrefix() }], from: 1_000_000n }, stop.signal)
      [Symbol.asyncIterator]()
      .next();
    setTimeout(() => stop.abort(reason), 50);
    await expect(next).rejects.toBe(reason);
  });

  it("does not begin what is aborted already", async () => {
    const reason = new Error("never mind");
    const signal = AbortSignal.abort(reason);
    const key = createPrefix();
    await expect(on.store.commitTxn({ compare: [], success: [put(key)], failure: [] }, signal)).rejects.toBe(
      reason,
    );
    await expect(on.store.grant(createId(), 5, signal)).rejects.toBe(reason);
    const watch = on.store.watch({ ranges: [{ key }], from: 1n }, signal)[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toBe(reason);
    expect((await on.store.readRange({ key })).count).toBe(0);
  });

  it("says how its members are", async () => {
    const { revision } = await write(on.store, put(createPrefix()));
    for (const member of await on.store.readMemberStatuses()) {
      if (!member.ok) throw member.error;
      expect(member).toMatchObject({ version: expect.stringMatching(/^3\./), errors: [] });
      expect(member.revision).toBeGreaterThanOrEqual(revision);
      expect(member.leaderId).not.toBe(0n);
    }
  });

  it("says that no login is needed", async () => {
    expect(await on.store.readUsers()).toEqual({ isEnabled: false, users: [], roles: [] });
  });

  it("refuses everything once it is closed, and ends its watches", async () => {
    const stop = new AbortController();
    const watch = on.store
      .watch({ ranges: [{ key: createPrefix() }], from: 1_000_000n }, stop.signal)
      [Symbol.asyncIterator]();
    const ended = catchErrorKind(watch.next());
    await on.store.readRange({ key: "a" });
    on.store.close();
    expect(await ended).toBe("unavailable");
    expect(await catchErrorKind(on.store.readRange({ key: "a" }))).toBe("unavailable");
  });
}
