/** The console gives memory back to the system when no key was pressed for some time. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { buildCollectionHook } from "../../../fixtures/process/collection-hook.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("it collects garbage once, ten seconds after the last key", async ({ namespace }) => {
  const log = cluster.createPath("");
  const listCollections = () => readFileSync(log, "utf8").split("\n").slice(0, -1);
  const hook = cluster.createPath(buildCollectionHook(log));
  const console = await openConsole(namespace, { env: { NODE_OPTIONS: `--require ${hook}` } });
  const keys: number[] = [];
  for (const key of ["down", "up"]) {
    keys.push(Date.now());
    console.press(key);
    await waitUntil("collection", () => listCollections().length === keys.length);
  }
  console.press("q");
  expect(await console.ended).toEqual({ code: 0, signal: undefined });
  const collections = listCollections().map((line) => line.split(" "));
  expect(collections.map(([kind]) => kind)).toEqual(["last-resort", "last-resort"]);
  for (const [at, [, time]] of collections.entries())
    expect(Number(time) - (keys[at] ?? 0)).toBeGreaterThan(9_900);
});
