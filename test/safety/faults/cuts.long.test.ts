/** The connection to etcd is cut while a command runs. The command is dead by the horizon; a short cut has no effect. */

import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import {
  SHORT_SESSIONS,
  SHORT_TTL_MS,
  type TestNamespace,
  TRANSPORTS,
  type Transport,
} from "../../../fixtures/cluster/test-namespace.ts";
import { TOKEN_WRITER, TokenLog } from "../../../fixtures/cluster/token-log.ts";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const proxies: FaultProxy[] = [];
/** What a busy machine may be late in seeing a death, ms. */
const LAG = 1_000;
/** Of a session of `SHORT_TTL_MS`, in ms: with these a command has died before etcd can have ended it. */
const [HORIZON, TERMINATION] = [11_000, 500];
/** Of a session that outlives a short cut, and the length of that, ms. A new connection may need three tries, of 1, 2 and 4 s, on a busy machine. */
const TTL_MS = 20_000;
const MOMENT = 1_500;
const WAITS_FOR_GO = ["sh", "-c", 'echo up; until [ -e "$GO" ]; do sleep 0.05; done; echo done'];
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

/** Two namespaces with the same keys: one behind a proxy, one with a direct connection to etcd. */
async function createProxiedNamespace(transport: Transport, env: Record<string, string> = SHORT_SESSIONS) {
  const proxy = await FaultProxy.start(cluster.etcd.clientUrl);
  proxies.push(proxy);
  const far = cluster.createNamespace({ transport, env, endpoints: [proxy.url] });
  const near = cluster.createNamespace({ transport, env, prefix: far.prefix });
  return { proxy, far, near };
}

const CUTS: Record<string, (proxy: FaultProxy) => void> = {
  "in silence": (proxy) => {
    proxy.mode = "drop";
  },
  "by a reset": (proxy) => {
    proxy.mode = "refuse";
    proxy.reset();
  },
  "so that no answer comes back": (proxy) => {
    proxy.mode = "drop-answers";
  },
};

async function readTicket(namespace: TestNamespace) {
  const [entry] = await namespace.readQueue("job");
  return entry;
}

/**
 * Waits for two renewals of the holder's session. When the second one comes, the first one counts.
 * @returns the ms between them, more on a busy machine
 */
async function waitForRenewals(namespace: TestNamespace) {
  const { session } = (await readTicket(namespace)) ?? { session: 0n };
  const instants: number[] = [];
  let before = Number.POSITIVE_INFINITY;
  await waitUntil("two renewals", async () => {
    const { left = 0 } = (await namespace.store.readTimeToLive(session)) ?? {};
    if (left > before) instants.push(performance.now());
    before = left;
    return instants.length === 2;
  });
  const [first = 0, second = 0] = instants;
  return second - first;
}

/** A holder behind a proxy, whose command ignores TERM, and a waiter with a direct connection. */
async function startHolderAndWaiter(transport: Transport) {
  const { proxy, far, near } = await createProxiedNamespace(transport);
  const ledger = new TokenLog(cluster.createPath());
  const run = far.startRun("--lock job", [TOKEN_WRITER], { env: { ...ledger.env, BEAT: "deaf" } });
  await run.waitForOutput("up");
  const next = near.startRun("--lock job --wait", [TOKEN_WRITER], { env: ledger.env });
  await near.waitForTicket(next, "waiting", "job");
  return { proxy, near, ledger, run, next };
}

// Few at once: their sessions are short, and the proxies of all are in this process.
describe.each(TRANSPORTS)("over %s, for long", (transport) => {
  test.concurrent.for(Object.entries(CUTS))(
    "cut %s: the command is dead before its session expires, exit 125",
    async ([, cut]) => {
      const { proxy, near, ledger, run, next } = await startHolderAndWaiter(transport);
      const renewedBefore = await waitForRenewals(near);
      const cutAt = performance.now();
      cut(proxy);
      const died = await waitForDeath(run.mark, 2 * SHORT_TTL_MS, run.pid);
      const survived = performance.now() - cutAt; // with pauses of this process: deadlines do not wait for it
      expect(died, "ms from the cut to the death of all").toBeLessThan(HORIZON + LAG);
      expect(survived, "ms that a cut is survived").toBeGreaterThan(
        HORIZON - TERMINATION - renewedBefore - LAG,
      );
      proxy.mode = "forward"; // what remains to be done is done, or fails, soon
      expect(await run.ended).toMatchObject({ code: 125, stdout: "up\n" });
      expect(run.output.stderr).toMatch("the claim was lost, the command was terminated");
      await next.waitForOutput("up");
      expect(ledger.findOverlaps()).toEqual([]);
      await next.end();
    },
  );

  test.concurrent("cut while both guardians are stopped: they are woken, and the command is dead in time", async () => {
    const { proxy, ledger, run, next } = await startHolderAndWaiter(transport);
    const guardians = listMarkedProcesses(run.mark).filter(({ name }) => name === GUARDIAN);
    expect(guardians).toHaveLength(2);
    proxy.mode = "drop";
    for (const { pid } of guardians) killProcess(pid, "SIGSTOP");
    expect(await waitForDeath(run.mark, 2 * SHORT_TTL_MS, run.pid)).toBeLessThan(HORIZON + LAG);
    proxy.mode = "forward";
    expect(await run.ended).toExit(125);
    await next.waitForOutput("up");
    expect(ledger.findOverlaps()).toEqual([]);
    await next.end();
  });
});

describe.each(TRANSPORTS)("over %s, for a moment or while it waits", (transport) => {
  test.concurrent.for(Object.entries(CUTS))("cut %s for a moment: nothing happens", async ([, cut]) => {
    const env = { SIGNALBOX_TTL: `${TTL_MS}ms` };
    const { proxy, far, near } = await createProxiedNamespace(transport, env);
    const go = cluster.createPath();
    const run = far.startRun("--lock job", WAITS_FOR_GO, { env: { GO: go } });
    await run.waitForOutput("up");
    const before = await readTicket(near);
    cut(proxy);
    await pause(MOMENT);
    proxy.mode = "forward";
    await pause(TTL_MS - MOMENT); // by now a session that was not renewed has expired
    expect(await readTicket(near), run.output.stderr).toEqual(before);
    writeFileSync(go, "");
    expect(await run.ended).toPrint("up\ndone\n");
  });

  test.concurrent("a waiting run that is cut off, and told to leave, does not wait for etcd", async () => {
    const { proxy, far, near } = await createProxiedNamespace(transport);
    await near.put(near.keys.lock("job", "abcdefghijklmnop"), "put by hand");
    const run = far.startRun("--lock job --wait", "echo ran");
    await near.waitForTicket(run, "waiting", "job");
    proxy.mode = "drop";
    run.kill("SIGTERM");
    const elapsed = startStopwatch();
    expect(await run.ended).toExitSilently(143);
    expect(elapsed(), "ms until it has left").toBeLessThan(2_000 + 2 * LAG);
    await near.waitForQueue("job", 1);
  });
});
