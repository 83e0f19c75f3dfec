import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock, waitForPending } from "../../../../fixtures/manual-clock.ts";
import { Failover } from "../../../../src/core/etcd/failover.ts";
import { type AttemptOptions, type Member, MemberError } from "../../../../src/core/etcd/member.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";

/** One attempt that the test answers. */
interface Call extends AttemptOptions {
  member: string;
  at: number;
  answer(value: string): void;
  fail(error: unknown): void;
}

const retry = (text = "refused") => new MemberError("unavailable", "retry", text);
const createElsewhereError = (text: string) => new MemberError("unavailable", "elsewhere", text);

describe("failover", () => {
  const timeouts = { attempt: 2000, hedge: 600, total: 6000, probe: 10_000, login: 10_000 };
  let clock: ManualClock;
  let calls: Call[];
  let discarded: string[];
  let suspects: string[];
  beforeEach(() => {
    clock = new ManualClock();
    calls = [];
    discarded = [];
    suspects = [];
  });

  const createFailover = (...endpoints: string[]) => {
    const members = endpoints.map((endpoint) => ({ endpoint, close: () => {} }) as Member);
    const failover = new Failover(members, clock, timeouts);
    failover.onSuspect = (member) => suspects.push(member.endpoint);
    return failover;
  };

  const run = (failover: Failover, signal?: AbortSignal) => {
    const outcome = failover.run(
      (member, options) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        calls.push({ member: member.endpoint, at: clock.elapsed, ...options, answer: resolve, fail: reject });
        return promise;
      },
      signal,
      (late) => discarded.push(late),
    );
    outcome.catch(() => {});
    return outcome;
  };

  const call = (index: number) => {
    const found = calls[index];
    if (!found) throw new Error(`there is no call ${index}`);
    return found;
  };
  const listTried = () => calls.map(({ member, at }) => `${member}@${at}`);

  it("asks one member only when it answers in time, and leaves no timer behind", async () => {
    const outcome = run(createFailover("a", "b"));
    await clock.advance(599);
    call(0).answer("yes");
    expect(await outcome).toBe("yes");
    expect(listTried()).toEqual(["a@0"]);
    expect(clock.pending).toBe(0);
    expect(call(0).signal.aborted).toBe(false);
  });

  describe("silence", () => {
    const createListener = () => {
      const told: string[] = [];
      const failover = createFailover("a", "b");
      failover.onSilence = ({ message }) => told.push(message);
      return { told, failover };
    };

    it("at the start is told once, after two seconds, with what each member has done", async () => {
      const { told, failover } = createListener();
      void run(failover);
      call(0).fail(retry("a: refused"));
      await clock.advance(1999);
      expect(told).toEqual([]);
      await clock.advance(1);
      expect(told).toEqual(["a: refused; b: no answer yet"]);
      void run(failover);
      await clock.advance(3000);
      expect(told).toHaveLength(1);
    });

    it("is not told if there was an answer", async () => {
      const { told, failover } = createListener();
      void run(failover);
      call(0).answer("yes");
      await waitForPending();
      void run(failover);
      await clock.advance(3000);
      expect(told).toEqual([]);
    });
  });

  it("tries the next member at once when one fails at once, and starts there the next time", async () => {
    const failover = createFailover("a", "b", "c");
    const outcome = run(failover);
    call(0).fail(retry());
    await waitForPending();
    call(1).answer("yes");
    expect(await outcome).toBe("yes");
    void run(failover);
    expect(listTried()).toEqual(["a@0", "b@0", "b@0"]);
  });

  it("asks a second member beside a slow one, and stops the slow one when the second answers", async () => {
    const failover = createFailover("a", "b", "c");
    const outcome = run(failover);
    await clock.advance(600);
    expect(listTried()).toEqual(["a@0", "b@600"]);
    call(1).answer("b");
    expect(await outcome).toBe("b");
    expect(call(0).signal.aborted).toBe(true);
    expect(call(1).signal.aborted).toBe(false);
    expect(suspects).toEqual(["a"]);
    call(0).answer("late");
    await waitForPending();
    expect(discarded).toEqual(["late"]);
  });

  it("takes the slow one's answer when it comes first after all", async () => {
    const outcome = run(createFailover("a", "b"));
    await clock.advance(700);
    call(0).answer("a");
    expect(await outcome).toBe("a");
    expect(call(1).signal.aborted).toBe(true);
    expect(suspects).toEqual([]);
  });

  it("sends no copy to the only member, but another attempt, on a new connection, when it has been silent", async () => {
    const outcome = run(createFailover("a"));
    await clock.advance(999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls.map(({ at, fresh }) => [at, fresh])).toEqual([
      [0, false],
      [1_000, true],
    ]);
    expect(call(0).signal.aborted).toBe(true);
    expect(suspects).toEqual(["a"]);
    await clock.advance(1_999); // the second attempt has twice the time
    expect(calls).toHaveLength(2);
    call(1).answer("yes");
    expect(await outcome).toBe("yes");
  });

  it("gives an attempt its whole time where the only member answers others, or is known to be slow", async () => {
    const failover = createFailover("a");
    const [first, other] = [run(failover), run(failover)];
    await clock.advance(900);
    call(1).answer("other");
    await other;
    await clock.advance(1_099);
    expect(calls).toHaveLength(2);
    call(0).answer("yes");
    expect(await first).toBe("yes");
    void run(failover);
    await clock.advance(1_999);
    expect(calls).toHaveLength(3);
  });

  it("sends no copy to a member that is being asked, though the others are hopeless", async () => {
    void run(createFailover("a", "b"));
    await clock.advance(600);
    call(1).fail(createElsewhereError("b: bad certificate"));
    await clock.advance(1_000);
    expect(listTried()).toEqual(["a@0", "b@600"]);
    call(0).fail(retry());
    await clock.advance(50);
    expect(listTried()).toEqual(["a@0", "b@600", "a@1650"]);
  });

  it("waits longer with copies while all members are slow", async () => {
    const failover = createFailover("a", "b");
    const runSlowly = async () => {
      const outcome = run(failover);
      await clock.advance(700);
      const before = calls.length;
      call(before - 1).answer("yes");
      await outcome;
    };
    const outcome = run(failover);
    await clock.advance(700);
    call(0).answer("yes");
    await outcome;
    expect(listTried()).toEqual(["a@0", "b@600"]);
    for (let i = 0; i < 5; i += 1) await runSlowly();
    expect(calls).toHaveLength(2 + 5);
  });

  it("does not suspect a slow member that has answered something else meanwhile", async () => {
    const failover = createFailover("a", "b");
    const first = run(failover);
    await clock.advance(100);
    const other = run(failover);
    call(1).answer("other");
    await other;
    await clock.advance(500);
    call(2).answer("copy");
    expect(await first).toBe("copy");
    expect(suspects).toEqual([]);
  });

  it("gives each attempt its deadline and the call its own, and names each member's cause once", async () => {
    const outcome = run(createFailover("a", "b"));
    await clock.advance(5999);
    expect(Math.max(...calls.map(({ at }) => at))).toBeLessThan(6000);
    await clock.advance(1);
    const error = await outcome.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/^a: no answer[^;]*; b: no answer[^;]*$/),
    });
    expect(calls.every(({ signal }) => signal.aborted)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("never has more attempts under way than members", async () => {
    void run(createFailover("a", "b"));
    await clock.advance(1999);
    expect(listTried()).toEqual(["a@0", "b@600"]);
  });

  it("pauses between rounds in which everyone failed, longer each time", async () => {
    const failover = createFailover("a", "b");
    void run(failover);
    for (let i = 0; i < 8; i += 1) {
      call(i).fail(retry());
      await waitForPending();
      if (calls.length === i + 1) await clock.advance(200);
    }
    const starts = calls.map(({ at }) => at);
    expect(starts.slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect(starts[4]).toBe(50);
    expect(starts[6]).toBeGreaterThanOrEqual(250);
  });

  it.each(["exists", "noSession", "permission", "invalid", "noSpace", "compacted"] as const)(
    "believes the first member that says %s",
    async (kind) => {
      const error = new MemberError(kind, "final", kind);
      const outcome = run(createFailover("a", "b"));
      call(0).fail(error);
      await expect(outcome).rejects.toBe(error);
      expect(calls).toHaveLength(1);
    },
  );

  it("gives up at once when no member can get better", async () => {
    const outcome = run(createFailover("a", "b"));
    call(0).fail(createElsewhereError("a: no such host name"));
    await waitForPending();
    call(1).fail(createElsewhereError("b: bad certificate"));
    const error = await outcome.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "unavailable", message: "a: no such host name; b: bad certificate" });
    expect(clock.now()).toBe(0);
  });

  it("never asks a hopeless member again within the call", async () => {
    void run(createFailover("a", "b"));
    call(0).fail(createElsewhereError("a: no such host name"));
    await waitForPending();
    call(1).fail(retry());
    await clock.advance(1000);
    expect(calls.slice(1).every(({ member }) => member === "b")).toBe(true);
  });

  it("ends at once with the signal's reason, and stops its attempts", async () => {
    const stop = new AbortController();
    const outcome = run(createFailover("a", "b"), stop.signal);
    await clock.advance(700);
    stop.abort(new Error("enough"));
    await expect(outcome).rejects.toBe(stop.signal.reason);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    call(0).fail(retry("too late"));
    call(1).answer("too late");
    await waitForPending();
    expect(discarded).toEqual(["too late"]);
  });

  it("fails what is under way, and what comes, once it is closed", async () => {
    const failover = createFailover("a");
    const outcome = run(failover);
    failover.close();
    await expect(outcome).rejects.toMatchObject({ kind: "unavailable" });
    await expect(run(failover)).rejects.toMatchObject({ kind: "unavailable" });
    expect(clock.pending).toBe(0);
  });

  it("passes a defect on as it is", async () => {
    const outcome = run(createFailover("a", "b"));
    const defect = new TypeError("undefined is not a function");
    call(0).fail(defect);
    await expect(outcome).rejects.toBe(defect);
  });
});
