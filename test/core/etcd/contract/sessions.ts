import { expect, it } from "vitest";
import {
  catchErrorKind,
  createId,
  createPrefix,
  followWatch,
  MAX_INT64,
  put,
  type Subject,
  write,
} from "../../../../fixtures/etcd/store-calls.ts";
import { buildPrefixRange } from "../../../../src/core/protocol/txn.ts";

async function grant(on: Subject, ttl = 30) {
  const id = createId();
  await on.store.grant(id, ttl);
  return id;
}

/** Sessions: granted, renewed, revoked, expired. */
export function testSessions(on: Subject): void {
  it("grants a session with the id we chose, and renews it", async () => {
    const id = createId();
    const granted = await on.store.grant(id, 30);
    expect(granted.ttl).toBe(30);
    expect(granted.raftTerm).toBeGreaterThan(0n);
    expect((await on.store.renew(id)).ttl).toBe(30);
  });

  it("refuses to grant the same id twice, and the first grant still lives", async () => {
    const id = await grant(on);
    expect(await catchErrorKind(on.store.grant(id, 30))).toBe("exists");
    expect((await on.store.renew(id)).ttl).toBe(30);
  });

  it("states the TTL that the server gives, when it is more than was asked for", async () => {
    expect((await on.store.grant(createId(), 0)).ttl).toBeGreaterThan(0);
  });

  it.each([MAX_INT64, 1n << 62n, (1n << 53n) + 1n])("takes the id %s", async (id) => {
    await on.store.grant(id, 30);
    const key = `${createPrefix()}k`;
    await write(on.store, put(key, "v", id));
    expect((await on.store.readRange({ key })).kvs[0]?.session).toBe(id);
    await on.store.revoke(id);
    expect((await on.store.readRange({ key })).count).toBe(0);
  });

  it("says that a session is gone: never there, or revoked", async () => {
    const id = createId();
    expect(await catchErrorKind(on.store.renew(id))).toBe("noSession");
    await on.store.grant(id, 30);
    await on.store.revoke(id);
    expect(await catchErrorKind(on.store.renew(id))).toBe("noSession");
    expect(await catchErrorKind(write(on.store, put(createPrefix(), "v", id)))).toBe("noSession");
  });

  it("says how much of a session is left, and nothing of one that is gone", async () => {
    const id = await grant(on);
    const remaining = await on.store.readTimeToLive(id);
    expect(remaining?.ttl).toBe(30);
    expect(remaining?.left).toBeGreaterThan(0);
    expect(remaining?.left).toBeLessThanOrEqual(30);
    await on.store.revoke(id);
    expect(await on.store.readTimeToLive(id)).toBeUndefined();
    expect(await on.store.readTimeToLive(createId())).toBeUndefined();
  });

  it("lists all sessions, with large ids too, until they are gone", async () => {
    const ids = [createId(), MAX_INT64 - 1n];
    for (const id of ids) await on.store.grant(id, 30);
    expect(await on.store.listSessions()).toEqual(expect.arrayContaining(ids));
    await on.store.revoke(ids[0] ?? 0n);
    expect(await on.store.listSessions()).not.toContain(ids[0]);
  });

  it("revokes twice without complaint, and deletes the keys once, in one revision", async () => {
    const at = createPrefix();
    const id = await grant(on);
    const { revision } = await write(on.store, put(`${at}a`, "", id), put(`${at}b`, "", id), put(`${at}c`));
    await on.store.revoke(id);
    await on.store.revoke(id);
    const rest = await on.store.readRange(buildPrefixRange(at));
    expect(rest.kvs.map(({ key }) => key)).toEqual([`${at}c`]);
    expect(rest.revision).toBe(revision + 1n);
  });

  it("ends a session that is not renewed, and its keys with it", async () => {
    const at = createPrefix();
    const id = await grant(on, 1);
    const { revision } = await write(on.store, put(`${at}k`, "v", id));
    const gone = followWatch(
      on.store,
      { ranges: [buildPrefixRange(at)], from: revision + 1n },
      (seen) => seen.length === 1,
    );
    await on.pass(3000);
    const [batch] = await gone;
    expect(batch?.events).toEqual([{ type: "delete", key: `${at}k`, revision: batch?.revision }]);
    expect(await catchErrorKind(on.store.renew(id))).toBe("noSession");
  });

  it("detaches a key from its session when it is put without one, keeps it with keepSession", async () => {
    const at = createPrefix();
    const id = await grant(on);
    await write(on.store, put(`${at}kept`, "1", id), put(`${at}freed`, "1", id));
    await write(
      on.store,
      { op: "put", key: `${at}kept`, value: "2", keepSession: true },
      put(`${at}freed`, "2"),
    );
    const { kvs } = await on.store.readRange(buildPrefixRange(at));
    expect(kvs.map(({ key, value, session }) => [key, value, session])).toEqual([
      [`${at}freed`, "2", 0n],
      [`${at}kept`, "2", id],
    ]);
    await on.store.revoke(id);
    expect((await on.store.readRange(buildPrefixRange(at))).kvs.map(({ key }) => key)).toEqual([
      `${at}freed`,
    ]);
  });

  it("refuses keepSession on a key that is not there", async () => {
    expect(
      await catchErrorKind(write(on.store, { op: "put", key: createPrefix(), value: "", keepSession: true })),
    ).toBe("invalid");
  });
}
