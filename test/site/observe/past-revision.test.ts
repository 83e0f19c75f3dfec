/** Which revision was current at a time, and the changes beside one. */

import { describe, expect, it } from "vitest";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { createOutcomesKey, createRunningKey } from "../../../fixtures/schedule/schedule-keys.ts";
import { createEndedRun, createKeyValue, toRunId } from "../../../fixtures/state/sample-snapshots.ts";
import { StoredKeys } from "../../../fixtures/state/stored-keys.ts";
import { toMonotonicTime } from "../../../src/core/base/clock.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { serializeAuditRecord } from "../../../src/core/protocol/audit.ts";
import { serializeTicket, type Ticket } from "../../../src/core/protocol/ticket.ts";
import {
  findLastChange,
  findNextChange,
  findOldestRevision,
  findRevisionAt,
  findStatedTime,
  readTimeOfRevision,
} from "../../../src/site/observe/past-revision.ts";

const { signal } = new AbortController();

/** An etcd in memory in which one key a second is written. */
class Site extends StoredKeys {
  readonly keys = keys;
  readonly store = MemoryStore.create({ now: () => toMonotonicTime(0) });
  readonly ports = {
    store: this.store,
    keys,
    clock: createRealClock(),
    random: realRandom,
    settings: { connectTimeout: 5_000 },
  };

  /** Writes an action of an operator at a time. */
  act(at: number) {
    const id = `act${at}`;
    const record = {
      id,
      at,
      user: "ann",
      host: "web1",
      action: "reset",
      target: "lock x",
      seen: 1n,
    } as const;
    return this.put(keys.audit(id), serializeAuditRecord({ ...record, outcome: "done" }));
  }
}

describe("the revision of a time", () => {
  it("is the last one before the first later change, also with changes without a time between", async () => {
    const site = new Site();
    const revisions: bigint[] = [];
    for (let at = 1_000; at <= 40_000; at += 1_000) {
      revisions.push(await site.act(at));
      await site.put(keys.group(`g${at}`), '["a"]');
    }
    const find = (at: number) => findRevisionAt(site.ports, at, signal);
    expect(await find(7_500)).toEqual({
      kind: "found",
      revision: (revisions[7] ?? 0n) - 1n,
      from: 7_000,
      until: 8_000,
    });
    expect(await find(8_000)).toMatchObject({ revision: (revisions[8] ?? 0n) - 1n, from: 8_000 });
    expect(await find(500)).toMatchObject({ kind: "found", from: undefined, until: 1_000 });
    expect(await find(99_000)).toMatchObject({ kind: "found", from: 40_000, until: undefined });
  });

  it("cannot be found before the oldest one that is kept", async () => {
    const site = new Site();
    const revisions: bigint[] = [];
    for (let at = 1_000; at <= 40_000; at += 1_000) revisions.push(await site.act(at));
    const oldest = revisions[20] ?? 0n;
    site.store.etcd.compact(oldest);
    expect(await findRevisionAt(site.ports, 5_000, signal)).toEqual({
      kind: "tooOld",
      oldest: { revision: oldest, at: 21_000 },
    });
    expect(await findRevisionAt(site.ports, 21_500, signal)).toMatchObject({
      kind: "found",
      revision: oldest,
    });
    expect(await findOldestRevision(site.ports, signal)).toEqual({ revision: oldest, at: 21_000 });
  });

  it("is not known while no value states a time", async () => {
    const site = new Site();
    const revision = await site.put(keys.group("a"), '["a"]');
    expect(await readTimeOfRevision(site.ports, revision, signal)).toEqual({ revision, at: undefined });
  });
});

describe("the time that a value states", () => {
  const ticket = (more: Partial<Ticket>, changed = false) => ({
    ...createKeyValue(
      keys.lock("x", toRunId("a")),
      serializeTicket(createTicket({ enqueuedAt: 5, ...more })),
      3,
    ),
    ...(changed && { modRevision: 4n }),
  });
  const audit = { id: "a", user: "ann", host: "web1", action: "reset", target: "x", seen: 1n } as const;
  it.each([
    ["a claim", ticket({ state: "waiting" }), 5],
    ["a claim that was written again", ticket({ state: "waiting" }, true), undefined],
    ["a holder", ticket({ state: "held", grantedAt: 9 }, true), 9],
    [
      "a holder that was asked to give up",
      ticket({ state: "held", grantedAt: 9, reset: { by: "a", at: 12 } }),
      12,
    ],
    ["a run in its grace", ticket({ state: "grace", grantedAt: 9 }, true), undefined],
    ["an admitted run", ticket({ state: "admitted" }, true), undefined],
    ["no ticket", createKeyValue(keys.lock("x", toRunId("a")), "x"), undefined],
    [
      "a history",
      createKeyValue(keys.history("x"), JSON.stringify({ v: 1, runs: [createEndedRun({ endedAt: 8 })] })),
      8,
    ],
    ["no history", createKeyValue(keys.history("x"), "x"), undefined],
    [
      "an action",
      createKeyValue(keys.audit("a"), serializeAuditRecord({ ...audit, at: 7, outcome: "done" })),
      7,
    ],
    [
      "an impossible time",
      createKeyValue(keys.audit("a"), serializeAuditRecord({ ...audit, at: 9e15, outcome: "" })),
      undefined,
    ],
    ["a running occurrence", createRunningKey("b", { since: 6 }), 6],
    ["outcomes", createOutcomesKey("b", { runs: [{ scheduled: 1, endedAt: 4, result: "ok" }] }), 4],
    ["a group", createKeyValue(keys.group("x"), "[]"), undefined],
  ])("of %s", (_, kv, at) => {
    expect(findStatedTime(keys, kv)).toBe(at);
  });
});

describe("the changes beside a revision", () => {
  it("are found in both directions, deletions too, but not what hosts renew", async () => {
    const site = new Site();
    const first = await site.put(keys.group("a"), '["a"]');
    await site.put(keys.host("web1.example.com"), "{}");
    const gone = await site.delete(keys.group("a"));
    await site.put(keys.host("web1.example.com"), "{}");
    const last = await site.put(keys.group("b"), '["b"]');
    const change = { revision: gone, keys: [keys.group("a")] };
    expect(await findNextChange(site.ports, first, signal)).toEqual(change);
    expect(await findLastChange(site.ports, { revision: last - 1n, oldest: 1n }, signal)).toEqual(change);
    expect(await findNextChange(site.ports, gone, signal)).toMatchObject({ revision: last });
    expect(await findLastChange(site.ports, { revision: gone - 1n, oldest: 1n }, signal)).toMatchObject({
      revision: first,
    });
  });

  it("may be far away", async () => {
    const site = new Site();
    const first = await site.put(keys.group("a"), '["a"]');
    let revision = first;
    for (let at = 0; at < 700; at += 1)
      revision = await site.put(keys.host("web1.example.com"), `{"v":${at}}`);
    expect(await findLastChange(site.ports, { revision, oldest: 1n }, signal)).toMatchObject({
      revision: first,
    });
  });

  it("are none at both ends", async () => {
    const site = new Site();
    const only = await site.put(keys.group("a"), '["a"]');
    expect(await findNextChange(site.ports, only, signal)).toBeUndefined();
    expect(await findLastChange(site.ports, { revision: only, oldest: only }, signal)).toBeUndefined();
  });
});
