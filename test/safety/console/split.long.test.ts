/** Two tables at once, and the rail at the left edge. */
import { expect, it } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();

async function createSite() {
  const namespace = await cluster.createTestNamespace();
  await holdLock(namespace, "alpha", { host: "web1.example.com" });
  await holdLock(namespace, "beta", { host: "web2.example.com" });
  await namespace.execute("group set web web1.example.com web2.example.com --yes");
  return namespace;
}

/** Locks at the left, hosts at the right. */
const hasBoth = (it: Terminal) => /alpha +● held.*│.*web1\.example\.com|HOST.*▎.*alpha/.test(it.getText());
const findRow = (it: Terminal, wanted: RegExp) => it.getScreen().findIndex((row) => wanted.test(row));

it("shows two tables, each with its own tab, cursor and filter, and remembers them", async () => {
  const namespace = await createSite();
  const env = { XDG_STATE_HOME: createTestFolder() };
  const size = { columns: 160, rows: 40 };
  const console = await openConsole(namespace, { env, ...size, shows: /beta +● held/ });
  await console.pressAndWait("\\ f6", "host web1.example.com: ", hasBoth);
  await console.pressAndWait("j", "host web2.example.com: ");
  await console.pressAndWait("shift+tab", "lock alpha: ");
  await console.pressAndWait("/", "─ filter locks ");
  await console.typeAndWait("bet", "1 of 2");
  await console.pressAndWait("enter", "/ filter bet: 1 of 2", "lock beta: ", "web1.example.com");
  await console.pressAndWait("2", "host web2.example.com: "); // the other one, whose cursor is where it was
  await console.pressAndWait("D", "─ drain host web2.example.com ");
  await console.pressAndWait("escape", (it) => !it.getText().includes("─ drain host"));
  const row = findRow(console, /beta +● held/);
  console.click((console.getScreen()[row] ?? "").lastIndexOf("beta"), row);
  await console.waitFor("lock beta: ");
  await console.pressAndWait("escape", hasBoth); // the filter was of this table
  console.press("q");
  await console.ended;
  const next = await openConsole(namespace, { env, ...size, view: "last", shows: hasBoth });
  await next.pressAndWait("\\", (it) => !it.getText().includes("web1.example.com │"), "lock alpha: ");
  await next.waitFor((it) => it.getText().includes("Locks 2") && !/HOST +/.test(it.getScreen()[2] ?? ""));
});

it("shows one below the other on a small screen, and refuses where there is no room", async () => {
  const console = await openConsole(await createSite(), { columns: 80, rows: 24, shows: /beta +● held/ });
  await console.pressAndWait("\\ f6", /beta +● held[\s\S]*Hosts 2[\s\S]*web2\.example\.com/);
  await console.pressAndWait("shift+tab", "Locks › alpha");
  console.resize(80, 14);
  await console.waitFor((it) => it.getText().includes("Locks › alpha") && !it.getText().includes("Hosts 2"));
  await console.pressAndWait("\\", (it) => !it.getText().includes("no room"));
  await console.pressAndWait("\\", "there is no room for a second table");
  console.resize(160, 40);
  await console.waitFor(/alpha +● held/);
  expect(console.getText()).not.toMatch(/alpha.*│.*alpha/);
});

it("has a rail of tabs with their counts where the screen is wide, for the mouse and with a key each", async () => {
  const console = await openConsole(await createSite(), { columns: 120, rows: 40, shows: /beta +● held/ });
  expect(console.getText()).toMatch(/◉ +2 [\s\S]* F3 [\s\S]*▣ +2 [\s\S]* F6 /);
  const hosts = findRow(console, /^ ▣ +2 /);
  console.click(2, hosts + 1);
  await console.waitFor("host web1.example.com: ");
  await console.pressAndWait("f3", "lock alpha: ");
  console.resize(119, 40);
  await console.waitFor((it) => it.getText().includes("EXPLORER") && !it.getText().includes("▣"));
});
