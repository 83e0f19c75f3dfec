/** The output of a run in the console, while it runs. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

async function startCapturedRun(columns: number, rows: number) {
  const namespace = await cluster.createTestNamespace();
  const folder = createTestFolder();
  const source = join(folder, "source");
  writeFileSync(source, "first line\n\u001b[31mred\u001b[2J and\u0007 loud\n");
  const env = { SIGNALBOX_OUTPUT_DIRECTORY: join(folder, "kept") };
  const command = ["tail", "--follow", "--lines=+1", "--sleep-interval=0.05", source];
  const run = namespace.startRun("--capture --lock invoices", command, { env });
  await run.waitForOutput("first line");
  const console = await openConsole(namespace, {
    view: "locks",
    columns,
    rows,
    shows: "invoices",
  });
  return { namespace, run, console, source };
}

test.each([
  [80, 24],
  [120, 40],
])("l shows what a run writes, live, without what a terminal interprets (%i×%i)", async (columns, rows) => {
  const { namespace, run, console, source } = await startCapturedRun(columns, rows);
  await console.pressAndWait("2 l", "output of invoices", /first line[\s\S]*red and loud/);
  appendFileSync(source, "second line\n");
  await console.waitFor("second line");
  appendFileSync(source, Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join(""));
  await console.waitFor("line 59");
  await console.pressAndWait("g", "first line");
  appendFileSync(source, "after all\n");
  await waitUntil("the answer has passed", async () => {
    const { kvs } = await namespace.store.readRange(namespace.keys.getFullRange());
    return kvs.some(({ key }) => key.includes("output/requests"));
  });
  expect(console.getText(), "it stays where the user reads").toMatch("first line");
  await console.pressAndWait("G", "after all");
  run.kill("SIGTERM");
  await console.waitFor("end of the output");
  await console.pressAndWait("escape", (it) => !it.getText().includes("output of invoices"));
});

test("closing the output ends the request", async () => {
  const { namespace, console } = await startCapturedRun(120, 40);
  const countRequests = async () => {
    const { kvs } = await namespace.store.readRange(namespace.keys.getFullRange());
    return kvs.filter(({ key }) => key.includes("/output/")).length;
  };
  await console.pressAndWait("2 l", "first line");
  expect(await countRequests()).toBeGreaterThan(0);
  console.press("escape");
  await waitUntil("nothing is left in etcd", async () => (await countRequests()) === 0);
});

test("says what is wrong when no output is kept, and what to select", async ({ namespace }) => {
  namespace.startRun("--lock quiet", "sleep 60");
  const console = await openConsole(namespace, {
    view: "locks",
    columns: 80,
    rows: 24,
    shows: /quiet +● held/,
  });
  await console.pressAndWait("2 l", "it runs, but keeps no", "end of the output");
  await console.pressAndWait("escape", (it) => !it.getText().includes("output of quiet"));
  console.press("]", "]", "]", "]"); // hosts
  await console.waitFor(/RUNNING|LOAD|AGENT|VERSION/);
  await console.pressAndWait("l", "output: select a lock, a schedule or a run");
});
