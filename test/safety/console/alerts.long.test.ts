import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
/** A host that tries to set the title of the window and to run something else. */
const HOSTILE = "web2\x1b\\\x1b]0;pwned\x07;x";

async function hold(namespace: TestNamespace, lock: string, host: string) {
  const run = host.slice(0, 4).padEnd(16, "0");
  const value = serializeTicket(createTicket({ run, host, state: "held" }));
  const key = namespace.keys.lock(lock, run);
  await namespace.put(key, value);
}

/** Ends the run that holds a lock, and grants it to one of another host, at once. */
async function passOn(namespace: TestNamespace, lock: string, host: string) {
  const run = "n".repeat(16);
  const { kvs } = await namespace.store.readRange(namespace.keys.getQueueRange("lock", lock));
  const gone = kvs.map(({ key }) => ({ op: "delete" as const, key }));
  const key = namespace.keys.lock(lock, run.replaceAll("n", host.at(3) ?? "n"));
  const value = serializeTicket(createTicket({ run, host, state: "held" }));
  await namespace.write(...gone, { op: "put", key, value });
}

async function free(namespace: TestNamespace, lock: string) {
  const { key } = namespace.keys.getQueueRange("lock", lock);
  const success = [{ op: "delete" as const, key, rangeEnd: `${key}~` }];
  await namespace.write(...success);
}

test("tells of a watched row by the bell, whatever the data have in them, and remembers it", async () => {
  const home = createTestFolder();
  const namespace = await cluster.createTestNamespace();
  await hold(namespace, "orders", "web1.example.com");
  const env = { XDG_STATE_HOME: home };
  const console = await openConsole(namespace, { env, shows: /orders +● held/ });
  await console.pressAndWait("A", "you are told when it changes", /◆orders +● held/);
  await passOn(namespace, "orders", HOSTILE);
  await console.waitFor(/watched +lock orders: held by web2/);
  await console.waitFor((it) => it.bells === 1);
  expect([console.title, console.notifications]).toEqual(["", []]);
  console.press("q");
  await console.ended;
  expect(console.leftBehind).toEqual([]);
  const next = await openConsole(namespace, { env });
  await passOn(namespace, "orders", "web3.example.com");
  await next.waitFor((it) => it.bells === 1);
});

test("with --no-notify shows it only on its screen", async ({ namespace }) => {
  await hold(namespace, "orders", "web1.example.com");
  const console = await openConsole(namespace, { args: ["--no-notify"], shows: /orders +● held/ });
  await console.pressAndWait("A", "you are told when it changes");
  await free(namespace, "orders");
  await console.waitFor(/watched +lock orders: free/);
  expect([console.bells, console.title, console.notifications]).toEqual([0, "", []]);
});
