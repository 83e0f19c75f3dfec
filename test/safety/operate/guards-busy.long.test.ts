/** Guards on a busy cluster: other runs do not block operators, and only runs of the preview are ended. */

import { describe, expect, onTestFinished } from "vitest";
import { listDrains } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { serializeTicket, type Ticket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
/** Time between two arrivals, ms: five waiters per second. */
const EVERY = 200;

let count = 0;

/** A ticket without a runner. @returns its run */
async function queueUp(namespace: TestNamespace, name: string, change: Partial<Ticket> = {}) {
  count += 1;
  const run = `r${String(count).padStart(15, "0")}`;
  const value = serializeTicket(createTicket({ run, pid: 10_000 + count, ...change }));
  const key = namespace.keys.lock(name, run);
  await namespace.put(key, value);
  return run;
}

const hold = (namespace: TestNamespace, name: string) =>
  queueUp(namespace, name, { state: "held", grantedAt: Date.now() });

async function leave(namespace: TestNamespace, name: string, run: string) {
  const key = namespace.keys.lock(name, run);
  await namespace.delete(key);
}

/** A queue grows by five waiters a second until the test ends. */
function grow(namespace: TestNamespace, name: string) {
  const timer = setInterval(() => void queueUp(namespace, name).catch(() => {}), EVERY);
  onTestFinished(() => clearInterval(timer));
}

/** What a preview states, once more waiters have come since. */
async function readShownRevision(namespace: TestNamespace, ...args: string[]): Promise<string> {
  const { stdout } = await namespace.execute([...args, "--dry-run", "--json"]);
  const before = (await namespace.listTickets()).length;
  await waitUntil("more waiters came", async () => (await namespace.listTickets()).length > before + 2);
  return JSON.parse(stdout).revision;
}

async function listResetRequests(namespace: TestNamespace) {
  return (await namespace.listTickets()).flatMap(({ run, ticket }) =>
    ticket?.reset === undefined ? [] : [run],
  );
}

describe("while a queue grows by 5 waiters a second", () => {
  test.each([["lock x"], ["host web1.example.com"], ["group web"], ["all"]])(
    "a drain of %s that was previewed is put",
    async (words) => {
      const namespace = await cluster.createTestNamespace();
      await namespace.execute("group set web web1.example.com --yes");
      await hold(namespace, "x");
      grow(namespace, "x");
      const scope = words.split(" ");
      const revision = await readShownRevision(namespace, "drain", ...scope);
      const drain = await namespace.execute(["drain", ...scope, "--yes", "--expect-revision", revision]);
      expect(drain).toExit(0);
      expect(await listDrains(namespace)).toHaveLength(1);
    },
  );

  test("a reset that was previewed ends the holder, and tells how many came meanwhile", async ({
    namespace,
  }) => {
    const holder = await hold(namespace, "x");
    grow(namespace, "x");
    const revision = await readShownRevision(namespace, "reset", "lock", "x");
    const words = ["reset", "lock", "x", "--yes", "--no-wait", "--expect-revision", revision];
    const reset = await namespace.execute(words);
    expect(reset).toExit(0, { stderr: /: \d+ runs came, 0 left; the runs to end/ });
    expect(await listResetRequests(namespace)).toEqual([holder]);
  });

  test("only the waiter that was previewed is reset", async ({ namespace }) => {
    await hold(namespace, "x");
    const waiter = await queueUp(namespace, "x");
    grow(namespace, "x");
    const revision = await readShownRevision(namespace, "reset", "run", waiter);
    const words = ["reset", "run", waiter, "--yes", "--no-wait", "--expect-revision", revision];
    await namespace.expectDone(...words);
    expect(await listResetRequests(namespace)).toEqual([waiter]);
  });
});

describe("what was not shown is not ended", () => {
  test("a reset refuses once another run holds the lock", async ({ namespace }) => {
    const first = await hold(namespace, "x");
    const { stdout } = await namespace.execute("reset lock x --dry-run --json");
    await leave(namespace, "x", first);
    await hold(namespace, "x");
    const words = ["reset", "lock", "x", "--yes", "--expect-revision", JSON.parse(stdout).revision];
    const reset = await namespace.execute(words);
    expect(reset).toExit(75, { stderr: /has left .*\n.*has joined \(held\)/ });
    expect(await listResetRequests(namespace)).toEqual([]);
  });

  test("a reset refuses when the run that was shown as next is next no more", async ({ namespace }) => {
    await hold(namespace, "x");
    const [next] = [await queueUp(namespace, "x"), await queueUp(namespace, "x")];
    const { stdout } = await namespace.execute("reset lock x --dry-run --json");
    await leave(namespace, "x", next);
    const words = ["reset", "lock", "x", "--yes", "--expect-revision", JSON.parse(stdout).revision];
    const reset = await namespace.execute(words);
    expect(reset).toExit(75, { stderr: "is no longer next: web1" });
    expect(await listResetRequests(namespace)).toEqual([]);
  });

  test("a drain that resets spares a run that was granted after the preview, and says so", async ({
    namespace,
  }) => {
    const shown = await hold(namespace, "x");
    const { stdout } = await namespace.execute("drain all --dry-run --json");
    const later = await hold(namespace, "y");
    const { revision } = JSON.parse(stdout);
    const waits = ["--wait", "--timeout", "200ms", "--reset", "--yes", "--expect-revision", revision];
    const drain = namespace.start(["drain", "all", ...waits]);
    await waitUntil("the shown run was asked", async () =>
      (await listResetRequests(namespace)).includes(shown),
    );
    await leave(namespace, "x", shown);
    expect(await drain.ended).toExit(124, { stderr: "not ended, because not shown" });
    expect(await listResetRequests(namespace)).toEqual([]);
    expect((await namespace.listTickets()).map(({ run }) => run)).toEqual([later]);
  });
});
