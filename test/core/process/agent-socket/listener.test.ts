import { spawn } from "node:child_process";
import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { LIMITS, startAgent } from "../../../../fixtures/process/agent-socket.ts";
import { addon, encodeCall, encodeHead } from "../../../../fixtures/process/fake-launcher.ts";
import { isRoot } from "../../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import { decodeArgument } from "../../../../src/core/base/bytes.ts";
import { addMs } from "../../../../src/core/base/clock.ts";
import { AGENT_REQUEST, LAUNCHER_EVENT } from "../../../../src/core/process/agent-socket/wire.ts";
import {
  BLOCK_MAX,
  encodeWords as encodeCommandWords,
  encodeFrame,
} from "../../../../src/core/process/guarded-command/wire.ts";

const END = encodeFrame(LAUNCHER_EVENT.callEnd, 0n, 0n);
const encodeWords = (...texts: string[]) =>
  encodeFrame(LAUNCHER_EVENT.words, 0n, 0n, Buffer.from(texts.join("")));
const OTHER_USER = 12_345;

describe("a call", () => {
  test("has the words, the settings and the directory of its launcher", async () => {
    const agent = await startAgent();
    const { call } = await agent.call({
      words: ["run", "--lock", "x", "--", "", "ä"],
      settings: ["SIGNALBOX_TTL=10s", "EMPTY=", "HOME=/a=b", "HOME=/second"],
      directory: "/var/tmp/ü",
    });
    expect(call).toMatchObject({
      peer: { pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() },
      request: {
        pid: process.pid,
        words: ["run", "--lock", "x", "--", "", "ä"],
        settings: { SIGNALBOX_TTL: "10s", EMPTY: "", HOME: "/a=b" },
        directory: "/var/tmp/ü",
        note: undefined,
        hasConfig: false,
        state: "new",
        connectionNumber: 0,
      },
    });
  });

  test("has the words of a command as they are, in any bytes", async () => {
    const word = Buffer.from("a\xff", "latin1");
    const { call } = await (await startAgent()).call({ words: ["run", "--lock", "ä", "--", word, "ü", ""] });
    expect(call.request.words).toEqual(["run", "--lock", "ä", "--", decodeArgument("a\xff"), "ü", ""]);
    const [words] = encodeCommandWords(call.request.words.slice(4));
    expect(words?.subarray(-7)).toEqual(Buffer.from("a\xff\0\xc3\xbc\0\0", "latin1"));
  });

  test("that waits is resumed with its note, and says whether its user has a configuration file", async () => {
    const options = { state: 1n, note: "call 7, attempt 2", connectionNumber: 3n, hasConfig: true };
    const { call } = await (await startAgent()).call(options);
    expect(call.request).toMatchObject({ ...options, state: "waiting", connectionNumber: 3 });
  });

  test("of a user who is not served is declined with the reason", async () => {
    const agent = await startAgent({ isServed: ({ uid }) => `user ${uid} is not in agentAllow` });
    const launcher = agent.connect();
    launcher.sendCall();
    expect(await launcher.receiveDecline()).toBe(`user ${process.getuid?.()} is not in agentAllow`);
    expect(agent.calls).toEqual([]);
  });

  const BYTES = Buffer.from("a\xff", "latin1");
  test.each([
    ["another process id", { pid: 1 }, "another pid namespace"],
    ["another boot clock", { bootTime: addMs(addon.readBootTime(), 60_000) }, "another time namespace"],
    ["an earlier boot clock", { bootTime: addMs(addon.readBootTime(), -60_000) }, "another time namespace"],
    ["another version", { version: 2n }, "version 2, not 1"],
    ["an unknown state", { state: 3n }, "no state 3"],
    ["a negative state", { state: -1n }, "no state -1"],
    ["a name that is not UTF-8", { words: ["run", "--lock", BYTES, "--", "x"] }, "words of the call are not"],
    ["words that are not UTF-8", { words: ["run", BYTES] }, "words of the call are not valid UTF-8"],
    ["settings that are not UTF-8", { settings: [BYTES] }, "settings of the call are not valid UTF-8"],
    ["a directory that is not UTF-8", { directory: BYTES }, "directory of the call are not valid UTF-8"],
    ["a note that is not UTF-8", { note: BYTES }, "note of the call are not valid UTF-8"],
    ["a note that is too long", { note: "x".repeat(5000) }, "note is malformed"],
    ["a setting without a name", { settings: ["=x"] }, "settings of the call are malformed"],
    ["a setting without a value", { settings: ["X"] }, "settings of the call are malformed"],
    ["the guardian's state from a launcher", { state: 2n }, "another pid namespace"],
    ["no head", [END], "does not begin with its head"],
    ["two heads", [encodeHead(), encodeHead()], "two heads"],
    ["a head without a directory", [encodeFrame(LAUNCHER_EVENT.call, 0n, 1n, Buffer.alloc(8))], "malformed"],
    ["an unknown frame", [encodeHead(), encodeFrame(99)], "no frame of kind 99"],
    ["a frame that is too long", [encodeFrame(LAUNCHER_EVENT.call, 0n, 1n, Buffer.alloc(70_000))], "70000"],
    ["half a word", [encodeHead(), encodeWords("a"), END], "malf"],
  ])("with %s is declined", async (_, sent, reason) => {
    const agent = await startAgent();
    const launcher = agent.connect();
    launcher.send(...(Array.isArray(sent) ? sent : [encodeCall(sent)]));
    expect(await launcher.receiveDecline()).toMatch(reason);
    expect(agent.calls).toEqual([]);
  });

  test("can have 1 MiB of words, and not more", async () => {
    const agent = await startAgent();
    const whole = [encodeHead(), ...Array(16).fill(encodeWords("x".repeat(BLOCK_MAX - 1), "\0"))];
    agent.connect().send(...whole, END);
    const call = await waitUntil("a call", () => agent.calls[0]);
    expect(call.request.words.length).toBe(16);
    const greedy = agent.connect();
    greedy.send(...whole, encodeFrame(LAUNCHER_EVENT.settings, 0n, 0n, Buffer.from("\0")));
    expect(await greedy.receiveDecline()).toMatch("more than 1 MiB");
  });

  test("random bytes and damaged calls end their own connection only", async () => {
    const agent = await startAgent();
    const damaged = fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 32 })).map(([at, bytes]) => {
      const call = encodeCall({ words: ["run", "x"], settings: ["A=b"], note: "n" });
      call.set(bytes.subarray(0, call.length - (at % call.length)), at % call.length);
      return call;
    });
    const frames = fc
      .array(fc.tuple(fc.integer({ min: 28, max: 42 }), fc.bigInt(-3n, 3n), fc.uint8Array()))
      .map((all) => Buffer.concat(all.map(([kind, a, block]) => encodeFrame(kind, a, 1n, block))));
    const anything = fc.oneof(
      damaged,
      frames,
      frames.map((bytes) => Buffer.concat([encodeCall(), bytes])),
      fc.uint8Array({ maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => {
        const launcher = agent.connect();
        launcher.socket.end(bytes);
        await launcher.waitForClose();
      }),
    );
    for (const call of agent.calls) call.destroy();
    await expect(agent.call({ words: ["run", "last"] })).resolves.toBeDefined();
    expect(agent.faults).toEqual([]);
  });
});

const encodeSignal = (number: bigint) => encodeFrame(LAUNCHER_EVENT.signalled, number);

/** Starts an agent that reads little from each user. */
const startFrugalAgent = () =>
  startAgent({ limits: { ...LIMITS, user: { ...LIMITS.user, traffic: { burst: 500_000, rate: 1_000 } } } });

describe("limits", () => {
  test("a client that is silent, or never completes its call, is declined", async () => {
    const agent = await startAgent({ limits: { ...LIMITS, callMs: 100 } });
    const [silent, slow] = [agent.connect(), agent.connect()];
    slow.send(encodeHead());
    for (const client of [silent, slow])
      expect(await client.receiveDecline()).toBe("the call was not complete after 0.1 s");
  });

  test("the connection of a client that sends endless data is closed, also when its pieces are small", async () => {
    const agent = await startAgent();
    for (const length of [BLOCK_MAX, 1, 0]) {
      const launcher = agent.connect();
      launcher.send(encodeHead());
      const piece = encodeWords("\0".repeat(length));
      const timer = setInterval(() => launcher.send(...Array(100).fill(piece)), 1);
      onTestFinished(() => clearInterval(timer));
      await launcher.waitForClose();
      clearInterval(timer);
    }
    expect(agent.calls).toEqual([]);
  });

  test("a stampede: all calls of one user that come at once are served", async () => {
    const agent = await startAgent();
    const launchers = Array.from({ length: 400 }, () => agent.connect());
    for (const launcher of launchers) launcher.sendCall();
    await waitUntil("400 calls", () => agent.calls.length === 400);
  });

  test("of one user, 64 unfinished calls are read at the same time; the next ones wait in line", async () => {
    const agent = await startAgent();
    const unfinished = Array.from({ length: 64 }, () => agent.connect());
    for (const launcher of unfinished) launcher.send(encodeHead());
    await Promise.all(unfinished.map(({ socket }) => socket.connecting && once(socket, "connect")));
    const next = agent.connect();
    next.sendCall({ words: ["run", "next"] });
    const ordinary = startClient(agent.path);
    if (isRoot) await waitUntil("the call of another user", () => agent.calls.length === 1);
    else await ordinary.exited;
    expect(agent.calls.filter(({ request }) => request.words.includes("next"))).toEqual([]);
    unfinished[0]?.socket.destroy();
    await waitUntil("the call", () => agent.calls.some(({ request }) => request.words.includes("next")));
  });

  test("all users together have a limit for their connections: more are closed, but not declined, so that guardians try again", async () => {
    const agent = await startAgent({ limits: { ...LIMITS, connections: 2 } });
    await agent.call();
    const { call } = await agent.call();
    const launcher = agent.connect();
    await launcher.waitForClose();
    expect(launcher.frames).toEqual([]);
    call.decline("enough");
    await call.closed;
    await agent.call();
  });

  test("the calls of one user have a limit for their words together", async () => {
    const user = { ...LIMITS.user, bytes: 100_000 };
    const agent = await startAgent({ limits: { ...LIMITS, user } });
    const words = ["x".repeat(60_000)];
    const { call } = await agent.call({ words });
    const second = agent.connect();
    second.sendCall({ words });
    expect(await second.receiveDecline()).toMatch("too many words and settings");
    call.decline("enough");
    await call.closed;
    await agent.call({ words });
  });

  test("a user whose runs have sent too much: nothing more is read from them; calls are, and other users are served", async () => {
    const agent = await startFrugalAgent();
    const { launcher, call } = await agent.call();
    const signals: string[] = [];
    call.onSignal(({ name }) => signals.push(name));
    launcher.send(...Array(1000).fill(encodeSignal(1n)));
    await waitUntil("signals", () => signals.length > 0);
    const before = signals.length;
    launcher.send(encodeSignal(15n));
    const next = await agent.call({ words: ["run", "next"] });
    next.launcher.send(encodeSignal(15n));
    next.call.onSignal(({ name }) => signals.push(name));
    if (isRoot) {
      startClient(agent.path);
      await waitUntil("the call of another user", () => agent.calls.length === 3);
      expect(agent.calls[2]?.peer.uid).toBe(OTHER_USER);
    }
    expect(signals.length).toBe(before);
  });

  test("after a pause, every run of its user is read again, also one that had sent nothing", async () => {
    const agent = await startAgent();
    const busy = await agent.call();
    const idle = await agent.call();
    const signals: string[] = [];
    busy.call.onSignal(() => {});
    idle.call.onSignal(({ name }) => signals.push(name));
    // More at once than may be between the threads.
    busy.launcher.send(...Array(1000).fill(encodeSignal(1n)));
    await agent.call();
    idle.launcher.send(encodeSignal(15n));
    await waitUntil("the signal", () => signals.length === 1);
  });

  test("a user whose unfinished calls have sent too much: what runs already is read", async () => {
    const agent = await startFrugalAgent();
    const { launcher, call } = await agent.call();
    for (let count = 0; count < 60; count += 1) agent.connect().send(encodeHead());
    const late = agent.connect();
    late.sendCall();
    await once(late.socket, "connect");
    const signals: string[] = [];
    call.onSignal(({ name }) => signals.push(name));
    launcher.send(encodeSignal(15n));
    await waitUntil("the signal", () => signals.length === 1);
    expect(agent.calls.length).toBe(1);
  });

  test("10,000 connections of one user at once: calls go on, and other users are served", async () => {
    let [inTurn, most] = [0, 0];
    const countConnection = () => {
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0;
        });
      inTurn += 1;
      most = Math.max(most, inTurn);
      return true as const;
    };
    const agent = await startAgent({ isServed: countConnection });
    const { launcher, call } = await agent.call();
    const flood = startClient(agent.path, 10_000);
    const refused = await flood.refused;
    call.writeOutput(1, "still here");
    expect((await launcher.receive(AGENT_REQUEST.write)).block.toString()).toBe("still here");
    if (isRoot) await agent.call({ words: ["run", "of another user"] });
    expect(refused).toBeGreaterThan(5_000);
    expect(most).toBeLessThan(100); // between connections, the event loop gets to timers and other sockets
    flood.child.kill("SIGKILL");
    await flood.exited;
    await agent.call({ words: ["run", "afterwards"] });
  });
});

/**
 * Starts a process, as another user if it can, that makes a call, or many connections that send nothing.
 * `refused`: how many of them were declined, when all have been tried and most are declined
 */
function startClient(path: string, connections = 0) {
  const script = connections > 0 ? FLOOD : CALL;
  const become = isRoot ? ["setpriv", `--reuid=${OTHER_USER}`, "--groups=12001,12002"] : [];
  const [file = "", ...args] = [...become, process.execPath, "-e", script, path, String(connections)];
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { HEAD: encodeHead({ pid: 0 }).toString("hex") },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const refused = once(child.stdout, "data").then(Number);
  return { child, exited: once(child, "exit"), refused };
}

const CALL = `
const head = Buffer.from(process.env.HEAD, "hex");
head.writeUInt32LE(process.pid, 24);
const end = Buffer.alloc(24);
end.writeUInt32LE(36, 0);
require("net").connect(process.argv[1]).write(Buffer.concat([head, end]));
`;

/**
 * Connects as fast as it can. A full queue (EAGAIN) is tried again, so that each attempt reaches the agent. On a busy machine, an answer
 * comes after the next attempt has begun.
 */
const FLOOD = `
const { connect } = require("net");
let left = Number(process.argv[2]), done = 0, refused = 0, isReported = false;
const total = left;
function report() {
  if (isReported || done < total || refused <= total / 2) return;
  isReported = true;
  console.log(refused);
}
function open() {
  if (left === 0) return;
  left -= 1;
  const socket = connect(process.argv[1]);
  let isConnected = false, isDone = false;
  const finish = () => {
    if (!isDone) { isDone = true; done += 1; open(); }
    report();
  };
  socket.once("connect", () => { isConnected = true; setTimeout(() => { if (!socket.destroyed) finish(); }, 300); });
  socket.once("data", () => { refused += 1; socket.destroy(); });
  socket.on("error", () => {});
  socket.once("close", () => { if (!isConnected) { left += 1; open(); } else finish(); });
}
for (let i = 0; i < 5000; i++) open();
setInterval(() => {}, 1000);
`;

test.runIf(isRoot)("the peer is the user who connected, with all groups", async () => {
  const agent = await startAgent();
  startClient(agent.path);
  const call = await waitUntil("the call", () => agent.calls[0]);
  expect(call.peer).toMatchObject({ uid: OTHER_USER, gid: 0 });
  expect(call.peer.groups.toSorted()).toEqual([12_001, 12_002]);
  expect(call.request.pid).toBe(call.peer.pid);
});
