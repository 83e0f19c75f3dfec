/** Signals that arrive while a program starts: none opens Node's debugger, and none is lost. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { WORKER_JOINED } from "../../../fixtures/schedule/due-schedules.ts";
import {
  LAUNCHER,
  PROGRAM,
  type RunningProcess,
  type SignalboxOptions,
} from "../../../fixtures/signalbox.ts";
import { pickCount } from "../../../fixtures/test-effort.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** Ends with 42 when it gets the signal. */
const buildCommand = (name: NodeJS.Signals) => [
  "perl",
  "-e",
  `$SIG{${name.slice(3)}} = sub { exit 42 }; $| = 1; print "up\\n"; sleep 1 while 1`,
];

function createFolder() {
  const path = cluster.createPath();
  mkdirSync(path);
  return path;
}

/** What starts our Node. `words` stand before the command. */
const WAYS: readonly { name: string; path: string; link?: string; words: readonly string[] }[] = [
  { name: "the launcher", path: LAUNCHER, words: ["run", "--lock", "x", "--"] },
  { name: "the program of the npm package", path: PROGRAM, words: ["run", "--lock", "x", "--"] },
  { name: "the launcher called cronlock", path: LAUNCHER, link: "cronlock", words: [] },
  { name: "the program of the npm package called golock", path: PROGRAM, link: "golock", words: [] },
];

function startBy(
  { path, link, words }: (typeof WAYS)[number],
  namespace: TestNamespace,
  name: NodeJS.Signals,
) {
  let program = path;
  if (link !== undefined) {
    program = join(createFolder(), link);
    symlinkSync(path, program);
  }
  const options: SignalboxOptions = {
    launcher: { path: program },
    env: { SIGNALBOX_AGENT: "never", CRONLOCK_GRACE: "0" },
  };
  return namespace.start([...words, ...buildCommand(name)], options);
}

/** Sends USR1 again and again from the moment on at which the process is Node, until there is a result. */
async function repeatUsr1<T>(process: RunningProcess, result: Promise<T>) {
  const isNode = () => readlinkSync(`/proc/${process.pid}/exe`).endsWith("/node");
  await waitUntil("Node", isNode, { every: 1 });
  const repeated = setInterval(() => process.kill("SIGUSR1"), 1);
  return await result.finally(() => clearInterval(repeated));
}

describe.each(WAYS)("a run started by $name", (way) => {
  test.each(SIGNALS)("gives %s to its command, or ends by it, whenever it arrives", async (name) => {
    const random = createTestRandom(`${way.name} ${name}`);
    const namespace = cluster.createNamespace();
    const begin = performance.now();
    const first = startBy(way, namespace, name);
    await first.waitForOutput("up");
    const start = performance.now() - begin;
    await first.end(name);
    for (let count = pickCount(4, 16); count > 0; count--) {
      const run = startBy(way, namespace, name);
      const timer = setTimeout(() => run.kill(name), start * random.drawUnit());
      const { code, signal, stderr } = await run.ended;
      clearTimeout(timer);
      expect([42, 128 + constants.signals[name], name]).toContain(signal ?? code);
      expect(stderr).toBe("");
    }
  });

  test("opens no debugger after any number of USR1", async () => {
    const run = startBy(way, cluster.createNamespace(), "SIGUSR1");
    const { code, signal, stderr } = await repeatUsr1(run, run.ended);
    expect([42, 138, "SIGUSR1"]).toContain(signal ?? code);
    expect(stderr).toBe("");
  });
});

const LAUNCHED = { launcher: {} };

test("a worker reads its file again at a USR1 that arrives while it starts", async ({ namespace }) => {
  const file = cluster.createPath(JSON.stringify({ handlers: [{ type: "a", command: ["true"] }] }));
  const worker = namespace.start(["worker", "--handlers", file], LAUNCHED);
  await repeatUsr1(worker, worker.waitForOutput(WORKER_JOINED));
  await waitUntil("read again", () => worker.output.stderr.includes("read again"));
  expect(worker.output.stderr).not.toMatch(/debugger|inspector/i);
  expect(await worker.end()).toExit(0);
});

test.each(["SIGHUP", "SIGUSR1", "SIGUSR2"] as const)(
  "%s does not end a worker that has not read its configuration",
  async (name) => {
    const config = cluster.createPath();
    execFileSync("mkfifo", [config]);
    const worker = cluster
      .createNamespace()
      .start("worker", { ...LAUNCHED, env: { SIGNALBOX_CONFIG: config } });
    const writer = await open(config, "w"); // when the worker has opened it too
    worker.kill(name);
    renameSync(cluster.createPath("{}"), config); // it may read it again
    await writer.writeFile("{}");
    await writer.close();
    await worker.waitForOutput(WORKER_JOINED);
    expect(await worker.end()).toExit(0);
  },
);

test.each([
  ["agent", ["agent", "--agent-socket"], "ready"],
  ["serve", ["serve", "--listen", "127.0.0.1:0"], "127.0.0.1"],
  ["a followed listing", ["ls", "locks", "--watch", "--json"], "{"],
])("%s opens no debugger at a USR1 that arrives while it starts", async (_, words, isUp) => {
  const namespace = cluster.createNamespace();
  const more = words[0] === "agent" ? [join(createFolder(), "agent.sock")] : [];
  const process = namespace.start([...words, ...more], LAUNCHED);
  const isOver = Promise.race([process.waitForOutput(isUp), process.ended]);
  await repeatUsr1(process, isOver);
  const { stderr } = await process.end();
  expect(stderr).not.toMatch(/debugger|inspector/i);
});
