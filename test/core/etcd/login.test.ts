/** A process logs in once, on simulated members. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock, waitForPending } from "../../../fixtures/manual-clock.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { DEFAULT_TIMEOUTS, Failover } from "../../../src/core/etcd/failover.ts";
import { Login, Passwords } from "../../../src/core/etcd/login.ts";
import { type AttemptOptions, type Member, MemberError, type Rpc } from "../../../src/core/etcd/member.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";

/** One login that a member was asked for. */
interface Asked {
  at: number;
  member: string;
  password: string;
  options: AttemptOptions;
  answer(token?: string): void;
  fail(error: unknown): void;
}

const createRefusal = () => new MemberError("unauthenticated", "final", "authentication failed");
const reset = () => new MemberError("unavailable", "retry", "connection reset");
const createStaleError = () => new MemberError("unauthenticated", "relogin", "invalid auth token");

describe("a login", () => {
  let clock: ManualClock;
  let asked: Asked[];
  let folder: string;
  /** Members that answer nothing at all. */
  let mute: Set<string>;
  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    mute = new Set();
    folder = createTestFolder();
  });

  const createMember = (endpoint: string): Member => ({
    endpoint,
    close: () => {},
    openWatchStream: () => Promise.reject(new Error("nobody watches here")),
    call: (rpc: Rpc, request: object, options: AttemptOptions) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      options.signal.addEventListener("abort", () => reject(options.signal.reason));
      if (rpc === "status" && !mute.has(endpoint)) resolve({ leader: "7" });
      if (rpc === "authenticate") {
        const { password } = request as { password: string };
        const answer = (token = `${endpoint} knows ${password}`) => resolve({ token });
        asked.push({ at: clock.elapsed, member: endpoint, password, options, answer, fail: reject });
      }
      return promise;
    },
  });
  const createFailover = (...endpoints: string[]) =>
    new Failover(endpoints.map(createMember), clock, DEFAULT_TIMEOUTS);
  const writePasswordFile = (text: string) => {
    const path = join(folder, "password");
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const createLogin = (path?: string) => new Login("someone", new Passwords("secret", path), () => 0.5);
  const requestToken = (of: Login, through: Failover, signal?: AbortSignal) => {
    const got = of.use(through, signal, async (text) => text);
    got.catch(() => {});
    return got;
  };
  /** A call that the old token does not open any more. */
  const useWithoutOld = (of: Login, through: Failover) =>
    of.use(through, undefined, async (text) => {
      if (text === "old") throw createStaleError();
      return text;
    });
  const answerLast = (token = "t") => getLastAsked().answer(token);
  const getLastAsked = () => {
    const one = asked.at(-1);
    if (one === undefined) throw new Error("nobody was asked");
    return one;
  };

  it("is one for all who need it, however slow: neither hedged nor repeated", async () => {
    const all = createLogin();
    const [one, other] = [createFailover("a", "b", "c"), createFailover("b", "c", "a")];
    const tokens = [requestToken(all, one), requestToken(all, other), requestToken(all, one)];
    await clock.advance(9_900);
    expect(asked.map(({ at, member: name }) => `${name}@${at}`)).toEqual(["a@0"]);
    answerLast();
    expect(await Promise.all(tokens)).toEqual(["t", "t", "t"]);
    expect(await requestToken(all, other)).toBe("t");
    expect(asked).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("is not ended by those who leave; they hear what it has met", async () => {
    const all = createLogin();
    const through = createFailover("a");
    const stop = new AbortController();
    const early = requestToken(all, through, stop.signal);
    const patient = requestToken(all, through);
    await clock.advance(500);
    stop.abort(new StoreError("unavailable", "time is up"));
    await expect(early).rejects.toMatchObject({
      kind: "unavailable",
      message: "a: no answer to the login yet",
    });
    expect(getLastAsked().options.signal.aborted).toBe(false);
    answerLast();
    expect(await patient).toBe("t");
  });

  it("goes to the next member at once when a connection breaks, and calls then start there", async () => {
    const through = createFailover("a", "b");
    const got = requestToken(createLogin(), through);
    await waitForPending();
    getLastAsked().fail(reset());
    await waitForPending();
    expect(getLastAsked()).toMatchObject({ member: "b", at: 0 });
    answerLast();
    expect(await got).toBe("t");
    expect(through.preferred).toBe(1);
  });

  it("goes to the next member when one serves nothing at all, after some questions", async () => {
    mute.add("a");
    const got = requestToken(createLogin(), createFailover("a", "b"));
    await clock.advance(5_900);
    expect(asked).toHaveLength(1);
    await clock.advance(200);
    expect(asked.map(({ member: name }) => name)).toEqual(["a", "b"]);
    answerLast();
    expect(await got).toBe("t");
  });

  it("fails in its time, and the next one comes later", async () => {
    const all = createLogin();
    const through = createFailover("a");
    const got = requestToken(all, through);
    await clock.advance(10_000);
    await expect(got).rejects.toMatchObject({ kind: "unavailable", message: /no answer to the login/ });
    expect(getLastAsked().options.signal.aborted).toBe(true);
    const again = requestToken(all, through);
    await waitForPending();
    expect(asked).toHaveLength(1);
    await clock.advance(250);
    expect(asked).toHaveLength(2);
    answerLast();
    expect(await again).toBe("t");
  });

  it("tells those who leave before its next try why the last one failed", async () => {
    const all = createLogin();
    const through = createFailover("a");
    const first = requestToken(all, through);
    await waitForPending();
    getLastAsked().fail(new MemberError("unavailable", "elsewhere", "a: its certificate is not trusted"));
    await expect(first).rejects.toMatchObject({ message: "a: its certificate is not trusted" });
    for (const wait of [10, 300]) {
      const stop = new AbortController();
      const late = requestToken(all, through, stop.signal);
      await clock.advance(wait);
      stop.abort(new StoreError("unavailable", "time is up"));
      await expect(late).rejects.toMatchObject({ message: "a: its certificate is not trusted" });
    }
    expect(asked).toHaveLength(2);
    answerLast();
    expect(await requestToken(all, through)).toBe("t");
  });

  it("pauses between rounds in which every member failed", async () => {
    void requestToken(createLogin(), createFailover("a", "b"));
    for (let i = 0; i < 6; i += 1) {
      await waitForPending();
      getLastAsked().fail(reset());
      await waitForPending();
      if (asked.length === i + 1) await clock.advance(600);
    }
    const times = asked.map(({ at }) => at);
    expect(times.slice(0, 2)).toEqual([0, 0]);
    expect(times[2]).toBeGreaterThanOrEqual(150);
    expect((times[4] ?? 0) - (times[3] ?? 0)).toBeGreaterThanOrEqual(300);
  });

  it("is over at once when etcd refuses it, and not asked for again for a while", async () => {
    const all = createLogin();
    const through = createFailover("a", "b");
    const got = requestToken(all, through);
    await waitForPending();
    getLastAsked().fail(createRefusal());
    await expect(got).rejects.toMatchObject({ kind: "unauthenticated" });
    await expect(requestToken(all, through)).rejects.toMatchObject({ kind: "unauthenticated" });
    expect(asked).toHaveLength(1);
  });

  it("is begun anew by the others when the store through which it went is closed", async () => {
    const all = createLogin();
    const [one, other] = [createFailover("a"), createFailover("b")];
    const [lost, kept] = [requestToken(all, one), requestToken(all, other)];
    await waitForPending();
    one.close();
    all.cancel(one);
    await expect(lost).rejects.toMatchObject({ kind: "unavailable", message: /closed/ });
    await waitForPending();
    expect(getLastAsked().member).toBe("b");
    answerLast();
    expect(await kept).toBe("t");
  });

  it("is repeated for a token that was refused, once for all; not for one that a member does not know yet", async () => {
    const all = createLogin();
    const through = createFailover("a");
    const first = requestToken(all, through);
    await waitForPending();
    answerLast("old");
    await first;
    const seen: (string | undefined)[] = [];
    let isKnown = false;
    const late = all.use(through, undefined, async (text) => {
      seen.push(text);
      if (!isKnown) throw createStaleError();
      return text;
    });
    await waitForPending();
    isKnown = true;
    await clock.advance(200);
    expect(await late).toBe("old");
    expect(seen).toEqual(["old", "old"]);
    await clock.advance(60_000);
    const three = [1, 2, 3].map(() => useWithoutOld(all, through));
    await waitForPending();
    expect(asked).toHaveLength(2);
    answerLast("new");
    expect(await Promise.all(three)).toEqual(["new", "new", "new"]);
  });

  describe("after a token was refused", () => {
    let path: string;
    let all: Login;
    let through: Failover;
    const call = () => {
      const made = useWithoutOld(all, through);
      made.catch(() => {});
      return made;
    };
    beforeEach(async () => {
      path = writePasswordFile("secret\n");
      all = createLogin(path);
      through = createFailover("a");
      const got = requestToken(all, through);
      await waitForPending();
      answerLast("old");
      await got;
      await clock.advance(60_000);
    });

    it("takes the password that the file holds now", async () => {
      writePasswordFile("changed");
      const made = call();
      await waitForPending();
      expect(getLastAsked().password).toBe("changed");
      answerLast("new");
      expect(await made).toBe("new");
    });

    it("waits for the file when etcd has the new password first, and does not try the old one again and again", async () => {
      const made = call();
      await waitForPending();
      getLastAsked().fail(createRefusal());
      await clock.advance(700);
      expect(asked).toHaveLength(2);
      writePasswordFile("changed");
      await clock.advance(300);
      expect(getLastAsked().password).toBe("changed");
      answerLast("new");
      expect(await made).toBe("new");
    });

    it("takes the old password while only the file has the new one", async () => {
      writePasswordFile("changed");
      const made = call();
      await waitForPending();
      getLastAsked().fail(createRefusal());
      await waitForPending();
      expect(getLastAsked().password).toBe("secret");
      answerLast("new");
      expect(await made).toBe("new");
    });

    it("says unavailable while the password may be changing, and in the end that it was refused", async () => {
      const refuse = async () => {
        const made = call();
        for (;;) {
          getLastAsked().fail(createRefusal()); // of one that is over already: nothing
          const done = await Promise.race([made.catch((error: unknown) => error), waitForPending()]);
          if (done !== undefined) return done;
          await clock.advance(250);
        }
      };
      expect(await refuse()).toMatchObject({ kind: "unavailable", message: /waiting for the new password/ });
      await clock.advance(150_000);
      expect(await refuse()).toMatchObject({ kind: "unauthenticated" });
      expect(asked.length).toBeLessThan(10);
    });

    it("is not confused by a file that is missing, or empty, for a moment", async () => {
      writeFileSync(path, "");
      const made = call();
      await waitForPending();
      expect(getLastAsked().password).toBe("secret");
      getLastAsked().fail(createRefusal());
      rmSync(path);
      await clock.advance(300);
      writePasswordFile("changed");
      await clock.advance(300);
      answerLast("new");
      expect(await made).toBe("new");
    });
  });
});
