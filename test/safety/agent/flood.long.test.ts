/** Users who send to the agent as much as they can. The commands and calls of others do not notice. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, SHORT_TTL_MS } from "../../../fixtures/cluster/test-namespace.ts";
import { getAwakeMs, retryAfterStalls } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
/** Users without privileges: one in agentAllow, and one who is not. */
const [ALLOWED, OUTSIDER] = [12_345, 12_346];
const CALLS = 1_000;

/** What a flood has done so far. */
interface Progress {
  connected: number;
  accepted: number;
  cut: number;
  bytes: number;
}

/** Functions of the programs below: a call of this process, and the report of what it does. */
const COMMON = `
const { connect } = require("net");
const [path, ...settings] = process.argv.slice(1);
const done = { connected: 0, accepted: 0, cut: 0, bytes: 0 };
setInterval(() => console.log(JSON.stringify(done)), 200);
const encode = (kind, a, b, block) => {
  const frame = Buffer.alloc(24 + block.length);
  frame.writeUInt32LE(kind, 0);
  frame.writeUInt32LE(block.length, 4);
  frame.writeBigInt64LE(a, 8);
  frame.writeBigInt64LE(b, 16);
  frame.set(block, 24);
  return frame;
};
const encodeCall = (words) => {
  const head = Buffer.from("12345678/\\0");
  head.writeUInt32LE(process.pid, 0);
  const [seconds] = require("fs").readFileSync("/proc/uptime", "utf8").split(" ");
  return Buffer.concat([
    encode(32, BigInt(Math.round(Number(seconds) * 1e9)), 1n, head),
    encode(33, 0n, 0n, Buffer.from(words.map((word) => word + "\\0").join(""))),
    encode(34, 0n, 0n, Buffer.from(settings.map((setting) => setting + "\\0").join(""))),
    encode(36, 0n, 0n, Buffer.alloc(0)),
  ]);
};`;

/**
 * Makes calls that wait for one lock. Every connection whose call was accepted then sends frames without pause: of a kind
 * that no launcher sends, or signals. A connection that is cut is made again.
 */
const FLOOD = `${COMMON}
const junk = [encode(99, 0n, 0n, Buffer.alloc(65000)), encode(37, 10n, 0n, Buffer.alloc(65000))];
const signals = Buffer.concat(Array(2000).fill(encode(37, 10n, 0n, Buffer.alloc(0))));
const open = (number) => {
  const socket = connect(path);
  const bytes = [junk[0], junk[1], signals][number % 3];
  const send = () => {
    while (!socket.destroyed && socket.writableLength < 200000) {
      socket.write(bytes);
      done.bytes += bytes.length;
    }
  };
  let isAccepted = false;
  socket.on("connect", () => { done.connected += 1; socket.write(encodeCall(["run", "--lock", "fl", "--wait", "--", "true"])); });
  socket.on("data", (data) => {
    if (isAccepted || data.readUInt32LE(0) !== 160) return;
    isAccepted = true;
    done.accepted += 1;
    const start = setInterval(() => { // all connections begin together
      if (done.accepted < ${CALLS}) return;
      clearInterval(start);
      socket.on("drain", send);
      send();
    }, 50);
  });
  socket.on("error", () => {});
  socket.on("close", () => { done.cut += isAccepted; setTimeout(open, 100, number); });
};
for (let number = 0; number < ${CALLS}; number++) open(number);`;

/** Connects, and connects again as soon as the connection has ended. */
const KNOCK = `${COMMON}
const open = () => {
  const socket = connect(path);
  socket.on("connect", () => { done.connected += 1; });
  socket.on("error", () => {});
  socket.on("close", open);
  socket.resume();
};
for (let count = 0; count < 64; count++) open();`;

/** Starts a program as another user, until the test has ended. */
function startFlood(script: string, uid: number, { socket, namespace }: HostAgent) {
  const settings = { SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","), ...namespace.env };
  const become = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const [file = "", ...args] = [...become, process.execPath, "-e", script, socket];
  args.push(...Object.entries(settings).map(([name, value]) => `${name}=${value}`));
  const child: ChildProcess = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"], cwd: "/", env: {} });
  const progress: Progress = { connected: 0, accepted: 0, cut: 0, bytes: 0 };
  if (child.stdout !== null)
    createInterface(child.stdout).on("line", (line) => {
      Object.assign(progress, JSON.parse(line));
    });
  const stop = () => {
    child.kill("SIGKILL");
  };
  onTestFinished(stop);
  return { progress, stop };
}

describe.runIf(process.getuid?.() === 0)("a flood", () => {
  test("of a user in agentAllow ends no command of others, and delays no renewal until its deadline", async ({
    task,
  }) => {
    await retryAfterStalls(task, async () => {
      const host = await HostAgent.start(cluster, {
        ...SHORT_SESSIONS,
        SIGNALBOX_AGENT_ALLOW: String(ALLOWED),
      });
      const { jobs } = host;
      const other = await jobs.startHolder("other", "--lock x");
      const { progress, stop } = startFlood(FLOOD, ALLOWED, host);
      const describeFlood = { describe: () => JSON.stringify(progress) };
      await waitUntil("a thousand calls", () => progress.accepted >= CALLS, describeFlood);
      const since = getAwakeMs();
      // Without renewals, the command would end within one time to live.
      await waitUntil("three times to live", () => getAwakeMs() > since + 3 * SHORT_TTL_MS, describeFlood);
      expect(progress.cut).toBeGreaterThan(0);
      expect(progress.bytes).toBeGreaterThan(50_000_000);
      const [ticket] = await jobs.waitForTickets("other", "held");
      const sessions = (await host.namespace.listSharedSessions()).map(({ id }) => id);
      expect(sessions).toContain(ticket?.session);
      stop();
      expect(await other.finish()).toExitSilently(0);
      await host.end();
    });
  });

  test("of connections of a user who is not served does not keep others from the agent", async () => {
    const host = await HostAgent.start(cluster);
    const { progress } = startFlood(KNOCK, OUTSIDER, host);
    await waitUntil("the flood", () => progress.connected > 1_000, {
      describe: () => JSON.stringify(progress),
    });
    for (let left = 10; left > 0; left -= 1) expect(await host.namespace.run("--lock x")).toExitSilently(0);
    const before = progress.connected;
    await waitUntil("more of the flood", () => progress.connected > before);
    await host.end();
  });
});
