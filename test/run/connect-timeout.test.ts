/** Maximum delay of a run that does not wait, if etcd answers late or not at all. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { MemoryStore } from "../../src/etcd/memory/memory-store.ts";
import { type ResponseHeader, StoreError, type Txn, type TxnResponse } from "../../src/etcd/store.ts";
import { claimWithRetries } from "../../src/run/claim.ts";
import type { ClaimRequest } from "../../src/run/request.ts";
import { ManualClock } from "../etcd/manual-clock.ts";
import { keys } from "../protocol/samples.ts";

const CONNECT = 10_000;
/** A call and a look that are under way when the time is up get a second each, the end of the session two. */
const LATEST = CONNECT + 1_000 + 1_000 + 2_000;

/** How late calls are answered, ms; Infinity: never. */
interface Delays {
  grant: number;
  txn: number;
  revoke: number;
  /** Transactions that put something; default: as the others. */
  put?: number;
}

class SlowStore extends MemoryStore {
  sessions = 0;
  readonly #clock: ManualClock;
  readonly #delays: Delays;

  constructor(clock: ManualClock, delays: Delays) {
    super(MemoryStore.create(clock).etcd);
    this.#clock = clock;
    this.#delays = delays;
  }

  override async grant(
    id: bigint,
    ttl: number,
    signal?: AbortSignal,
  ): Promise<ResponseHeader & { ttl: number }> {
    this.sessions += 1;
    const answer = await super.grant(id, ttl, signal);
    await this.#late(this.#delays.grant, signal);
    return answer;
  }

  override async commitTxn(txn: Txn, signal?: AbortSignal): Promise<TxnResponse> {
    const { txn: delay, put = delay } = this.#delays;
    const isPut = [...txn.success, ...txn.failure].some(({ op }) => op === "put");
    if (isPut && put === Number.POSITIVE_INFINITY) await this.#late(put, signal); // it is not applied either
    const answer = await super.commitTxn(txn, signal);
    await this.#late(isPut ? put : delay, signal);
    return answer;
  }

  override async revoke(id: bigint, signal?: AbortSignal): Promise<void> {
    await this.#late(this.#delays.revoke, signal);
    await super.revoke(id, signal);
  }

  /** As a store does it, a call that has no answer in 6 s has failed. */
  async #late(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await this.#clock.sleep(Math.min(ms, 6_000), signal);
    if (ms > 6_000) throw new StoreError("unavailable", "no answer");
  }
}

/** Makes a claim on such an etcd. @returns when it ended and with what */
async function claimOn(delays: Delays, more: Partial<ClaimRequest> = {}) {
  const clock = new ManualClock();
  const store = new SlowStore(clock, delays);
  const random = { generateBytes: (n: number) => randomBytes(n), generateFraction: () => 0.5 };
  const request: ClaimRequest = {
    locks: ["x"],
    leases: [],
    waitLimits: { queues: false },
    history: true,
    identity: { host: "web1", pid: 1, user: "u", command: "job" },
    ttl: 30,
    terminationTimeout: 500,
    connectTimeout: CONNECT,
    ...more,
  };
  const ports = { store, keys, clock, random, log: silentLog };
  const end = { at: Number.NaN, error: undefined as unknown };
  const finish = (error?: unknown) => Object.assign(end, { at: clock.now(), error });
  const claimPorts = { ...ports, evaluateTotal: () => undefined, describeHost: () => "{}" };
  void claimWithRetries(claimPorts, request, new AbortController().signal).then(() => finish(), finish);
  await clock.advance(10 * CONNECT);
  return { ...end, store };
}

describe("a run without --wait leaves within its connect timeout", () => {
  test("though each of its sessions lapses before the claim is answered", async () => {
    const slow = { grant: 1_500, txn: 1_500, revoke: 100 };
    const { at, error, store } = await claimOn(slow, { ttl: 2 });
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(at).toBeGreaterThanOrEqual(CONNECT);
    expect(at).toBeLessThanOrEqual(LATEST);
    expect(store.sessions).toBeGreaterThan(1);
    const between = await claimOn(slow, { ttl: 2, connectTimeout: 8_400 }); // the fifth has just been ended
    expect(between.at).toBe(8_500);
    expect(between.error).toMatchObject({
      kind: "unavailable",
      message:
        "etcd answers too slowly: within the connect timeout of 8s400ms, each session of 2 s expired before its claim was answered",
    });
  });

  test("though its session was granted shortly before it was over, and nothing was answered then", async () => {
    const late = { grant: 5_900, txn: Number.POSITIVE_INFINITY, revoke: Number.POSITIVE_INFINITY };
    const { at, error } = await claimOn(late);
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(at).toBeGreaterThanOrEqual(CONNECT);
    expect(at).toBeLessThanOrEqual(LATEST);
  });

  test("though etcd answers its reads and renewals, and no write", async () => {
    const { at, error } = await claimOn({ grant: 100, txn: 100, revoke: 100, put: Number.POSITIVE_INFINITY });
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(at).toBeGreaterThanOrEqual(CONNECT);
    expect(at).toBeLessThanOrEqual(LATEST);
  });

  test("and is granted, where the answers come in time", async () => {
    const { at, error, store } = await claimOn({ grant: 900, txn: 900, revoke: 100 }, { ttl: 4 });
    expect([error, at, store.sessions]).toEqual([undefined, 1_800, 1]);
  });
});

test("a run that waits outlasts it", async () => {
  const slow = { grant: 1_500, txn: 1_500, revoke: 100 };
  const { at, store } = await claimOn(slow, { ttl: 2, waitLimits: { queues: true } });
  expect(at).toBeNaN();
  expect(store.sessions).toBeGreaterThan(10);
});
