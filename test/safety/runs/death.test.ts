/** Runners that are killed or frozen: their commands die with them, and before anyone else gets the lock. */

import { describe, expect, type RunnerTask, test } from "vitest";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { IS_WITH_AGENT } from "../../../fixtures/cluster/test-agents.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import {
  SHORT_SESSIONS,
  SHORT_TTL_MS,
  type TestNamespace,
  TRANSPORTS,
  type Transport,
} from "../../../fixtures/cluster/test-namespace.ts";
import { TOKEN_WRITER, TokenLog } from "../../../fixtures/cluster/token-log.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import { expectNoViolation, retryAfterStalls, startStopwatch } from "../../../fixtures/steady.ts";
import { pickCount } from "../../../fixtures/test-effort.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

/** Runners killed, over both transports. */
const KILLS = Number(process.env.SIGNALBOX_TEST_KILLS ?? pickCount(12, 30));
/** Locks on which that is done side by side, on each transport. */
const LANES = 3;
/** Long enough for renewals on a busy machine: a run whose session expires by itself proves nothing here. */
const TTL = SHORT_TTL_MS;
/** What a server may be late in expiring a session, and a busy machine in seeing it, ms. */
const LATE = 12_000;
/** When the command of a runner that cannot renew must be dead, ms; and what a busy machine may be late in seeing it. */
const [HORIZON, LAG] = [11_000, 1_000];

const cluster = TestCluster.startForFile();

const spinFor = async (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; ) await new Promise(setImmediate);
};
const random = createTestRandom("death");
const spinWithin = (ms: number) => spinFor(random.drawBetween([0, ms]));

/** Resolves with the event that grants a run the lock, as soon as etcd tells it. */
async function waitUntilGranted(namespace: TestNamespace, run: TestProcess) {
  const stop = AbortSignal.timeout(60_000);
  try {
    for await (const { events } of namespace.store.watch(
      { ranges: [namespace.keys.getQueueRange("lock", "job")], from: 1n },
      stop,
    )) {
      const tickets = events.map((event) => (event.type === "put" ? JSON.parse(event.kv.value) : {}));
      if (tickets.some(({ pid, state }) => pid === run.pid && state === "held")) return;
    }
  } catch (cause) {
    const queue = (await namespace.readQueue("job")).map(({ ticket }) => `${ticket?.pid} ${ticket?.state}`);
    const seen = JSON.stringify({ ...run.output, exit: run.child.exitCode, queue });
    throw new Error(`run ${run.pid} was not granted: ${seen}`, { cause });
  }
}

/** When a runner that has the lock, or waits for it, is killed: after an event and a random while. */
const INSTANTS: ((namespace: TestNamespace, run: TestProcess) => Promise<void>)[] = [
  (namespace, run) => waitUntilGranted(namespace, run).then(() => spinWithin(8)), // around the spawn
  (_, run) => run.waitForOutput("up").then(() => spinWithin(200)),
];

/** Kills a runner. @returns ms until nothing of it and of its command was left */
async function measureKill(run: TestProcess) {
  run.kill("SIGKILL");
  return await waitForDeath(run.mark, HORIZON);
}

/** Kills a runner at any moment of its start, on a lock that is free. */
async function measureKillAtStart(namespace: TestNamespace) {
  const run = namespace.startRun([], [TOKEN_WRITER], { env: { OUT: "/dev/null" } });
  await spinWithin(300);
  return await measureKill(run);
}

/** Kills one holder of a lock after the other, the next one waiting already; the last one must have its turn in time. */
async function measureKillsInTurn(namespace: TestNamespace, ledger: TokenLog, kills: number) {
  const startQueued = async () => {
    const run = namespace.startRun("--lock job --wait", [TOKEN_WRITER], { env: ledger.env });
    await waitUntil("its place", async () => {
      if (run.child.exitCode !== null)
        throw new Error(`ended without a place: ${JSON.stringify(run.output)}`);
      return (await namespace.readQueue("job")).some((it) => it.ticket?.pid === run.pid);
    });
    return run;
  };
  const took: number[] = [];
  let current = await startQueued();
  for (let number = 0; number < kills; number++) {
    const next = await startQueued();
    await INSTANTS[number % INSTANTS.length]?.(namespace, current);
    took.push(await measureKill(current));
    current = next;
  }
  const sinceDeath = startStopwatch();
  await waitUntilGranted(namespace, current);
  expect(sinceDeath(), "ms from the last death to the next grant").toBeLessThan(TTL + LATE);
  await current.waitForOutput("up");
  expect(await current.end()).toExit(143);
  return took;
}

/** A lane of kills: a third of them at the start. */
async function runLane(transport: Transport, kills: number) {
  const namespace = cluster.createNamespace({ transport, env: SHORT_SESSIONS });
  const ledger = new TokenLog(cluster.createPath());
  const early = Math.ceil(kills / 3);
  const took = await measureKillsInTurn(namespace, ledger, kills - early);
  expectNoViolation(ledger.findOverlaps());
  for (let number = 0; number < early; number++) took.push(await measureKillAtStart(namespace));
  return took;
}

/** Once more where a machine that stood still has cost runs their sessions. */
async function runLaneAfterStalls(task: Readonly<RunnerTask>, transport: Transport, kills: number) {
  let took: number[] = [];
  await retryAfterStalls(task, async () => {
    took = await runLane(transport, kills);
    expect(Math.max(...took), "ms from the kill to the death of all: no horizon was waited for").toBeLessThan(
      HORIZON - TTL / 4, // it was renewed shortly before
    );
  });
  return took;
}

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  test(
    `${KILLS / 2} runners SIGKILLed at random instants take their commands with them`,
    async ({ task }) => {
      const shares = Array.from({ length: LANES }, (_, at) => Math.floor((KILLS / 2 + at) / LANES));
      const took = (
        await Promise.all(shares.map((share) => runLaneAfterStalls(task, transport, share)))
      ).flat();
      expect(took).toHaveLength(Math.floor(KILLS / 2));
    },
    300_000 + KILLS * TTL,
  );

  // With an agent, the agent renews for a frozen launcher, so its job goes on. A frozen agent: test/safety/agent/restart.long.test.ts.
  test.skipIf(IS_WITH_AGENT)(
    "a runner frozen past its horizon: dead before the session expires, and it says 125",
    async ({ task }) => {
      await retryAfterStalls(task, async () => {
        const namespace = cluster.createNamespace({ transport, env: SHORT_SESSIONS });
        const ledger = new TokenLog(cluster.createPath());
        const env = { ...ledger.env, BEAT: "deaf" }; // TERM alone would not do
        const frozen = namespace.startRun("--lock job", [TOKEN_WRITER], { env });
        await frozen.waitForOutput("up");
        const next = namespace.startRun("--lock job --wait", [TOKEN_WRITER], { env });
        await namespace.waitForTicket(next, "waiting", "job");
        frozen.kill("SIGSTOP");
        const died = await waitForDeath(frozen.mark, HORIZON + LATE, frozen.pid);
        expect(died, "ms from the freeze to the death of all").toBeLessThan(HORIZON + LAG);
        await next.waitForOutput("up");
        frozen.kill("SIGCONT");
        expect(await frozen.ended).toExit(125);
        expect(frozen.output.stderr).toMatch("the claim was lost");
        await waitUntil("a beat of the next run", () => ledger.readTokens().length === 2);
        expectNoViolation(ledger.findOverlaps());
        await next.end();
      });
    },
  );

  test("a command that ignores TERM is killed after the termination timeout", async () => {
    const namespace = cluster.createNamespace({
      transport,
      env: { ...SHORT_SESSIONS, SIGNALBOX_TTL: "20s" },
    });
    const ledger = new TokenLog(cluster.createPath());
    const deaf = namespace.startRun("--lock job", [TOKEN_WRITER], {
      env: { ...ledger.env, BEAT: "deaf" },
    });
    await deaf.waitForOutput("up");
    expect(await deaf.end()).toEqual({ code: 137, signal: null, stdout: "up\n", stderr: expect.any(String) });
    await waitForDeath(deaf.mark, 5_000);
    expect(await namespace.readQueue("job"), "the lock is free at once").toEqual([]);
  });
});
