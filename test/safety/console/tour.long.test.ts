/** The tour for users who are new. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { serializeTicket } from "../../../src/protocol/ticket.ts";
import { ticketWith } from "../../protocol/samples.ts";

const cluster = TestCluster.startForFile();

async function createNamespaceWithLocks(): Promise<TestNamespace> {
  const namespace = await cluster.createTestNamespace("http");
  for (const lock of ["alpha", "beta"]) {
    const run = lock.padEnd(16, "0");
    const value = serializeTicket(ticketWith({ run, host: "web1.example.com", state: "held" }));
    const key = namespace.keys.lock(lock, run);
    await namespace.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
  }
  return namespace;
}

/** A user without anything stored. */
function createNewUser(): { XDG_STATE_HOME: string } {
  const home = mkdtempSync(join(tmpdir(), "signalbox-state-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { XDG_STATE_HOME: home };
}

function getText(console: Terminal): string {
  return console.getScreen().join("\n");
}

const STEPS = [
  "Is this true now?",
  "Everything there is",
  "Who holds what, and who waits",
  "Why?",
  "Change something, safely",
  "When you are lost",
];

it.each([
  [80, 24],
  [160, 50],
  [220, 50],
])("leads a new user over the screen, and is not offered again (%i×%i)", async (columns, rows) => {
  const namespace = await createNamespaceWithLocks();
  const env = createNewUser();
  const console = await openConsole(namespace, { env, columns, rows });
  await console.waitFor("your first time here?");
  console.press("enter");
  for (const [at, title] of STEPS.entries()) {
    await console.waitFor(`tour ${at + 1} of 6: ${title}`);
    expect(getText(console)).toMatch(/╰─ Enter (next|end) {2}← back {2}Esc end ─*╯/);
    expect(getText(console)).toMatch(/live rev/);
    if (at !== STEPS.length - 1) console.press("enter");
  }
  console.press("left");
  await console.waitFor("tour 5 of 6");
  console.press("escape");
  await console.waitFor((it) => !getText(it).includes("╭─"));
  console.press("q");
  expect(await console.ended).toEqual({ code: 0, signal: undefined });
  const next = await openConsole(namespace, { env, columns, rows });
  await next.waitFor(/beta +● held/);
  expect(getText(next)).not.toContain("your first time here?");
  next.press(":");
  next.type(">tour");
  await next.waitFor(/six short steps/);
  next.press("enter");
  await next.waitFor("tour 1 of 6");
});

it("is in nobody's way: every other key and click ends it, and does what it always does", async () => {
  const namespace = await createNamespaceWithLocks();
  const console = await openConsole(namespace, { env: createNewUser() });
  await console.waitFor("your first time here?");
  await console.waitFor(/lock alpha: /);
  console.press("j");
  await console.waitFor(/lock beta: /);
  expect(getText(console)).not.toContain("your first time here?");
  console.press(":");
  console.type(">tour");
  await console.waitFor(/six short steps/);
  console.press("enter");
  await console.waitFor("tour 1 of 6");
  console.press("enter", "enter", "D");
  await console.waitFor("╭─ drain lock beta ");
  expect(getText(console)).not.toContain("tour");
});

it("is not offered to a screen reader", async () => {
  const namespace = await createNamespaceWithLocks();
  const console = await openConsole(namespace, { env: createNewUser(), args: ["--plain"] });
  await console.waitFor(/alpha/);
  expect(getText(console)).not.toContain("first time");
});
