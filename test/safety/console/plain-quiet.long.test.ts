/** The lines for screen readers: none appears by itself, whatever happens in etcd. */
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const { test } = TestCluster.startForFile();

test("no line appears without a key for a minute in which runs come and go", async ({ namespace }) => {
  const first = await namespace.jobs.startHolder("first", "--lock orders");
  namespace.onClose(() => first.kill("SIGKILL"));
  const console = await openConsole(namespace, { args: ["--plain"], isModern: true, shows: "row 1 of 1" });
  console.press("j");
  await pause(500);
  const [lines, bytes] = [console.getScreen(), console.bytes];
  for (const end = performance.now() + 60_000; performance.now() < end; ) {
    const name = `run${Math.round(end - performance.now())}`;
    await namespace.execute(["run", "--lock", name, "--", "true"]);
    await namespace.execute(["drain", "lock", name, "--yes"]);
    await pause(1_000);
  }
  expect(console.getScreen()).toEqual(lines);
  expect(console.bytes).toBe(bytes);
  await console.pressAndWait("j", /Locks, row 2 of \d\d/);
  console.press("q");
  expect(await console.ended).toEqual({ code: 0, signal: undefined });
});
