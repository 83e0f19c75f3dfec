/** The examples under Bun and Deno, as npm installs them, with the built package. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const VERSIONS = { bun: "1.4.5", deno: "2.9.6" };
const COMMANDS = {
  bun: ["bun", "run"],
  deno: ["deno", "run", "--allow-all", "--node-modules-dir=manual"],
} as const;
const EXAMPLES = {
  lock: /3 rows, written with token \d+/,
  leases: /two units of db are ours/,
  etl: /4 tables loaded/,
  "rate-limit": /12 calls, the last one returned 11/,
  "job-queue": /invoice for bob, attempt 2/,
  schedules: /mail\.digest: mail to team@example\.com/,
};

const cluster = TestCluster.startForFile();
const run = promisify(execFile);
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-runtimes-"));
  const allowScripts = { bun: true, deno: true };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies: VERSIONS, allowScripts }));
  await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder });
  symlinkSync(ROOT, join(folder, "node_modules/signalbox"));
  mkdirSync(join(folder, "examples"));
  cpSync(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const cases = Object.keys(VERSIONS).flatMap((runtime) =>
  Object.entries(EXAMPLES).map(([name, said]) => [runtime as keyof typeof VERSIONS, name, said] as const),
);

test.each(cases)("%s runs %s", async (runtime, name, said) => {
  const [program, ...args] = COMMANDS[runtime];
  const namespace = cluster.createNamespace();
  const env = {
    ...{ ...namespace.env, PATH: process.env.PATH, HOME: folder },
    SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(","),
  };
  const words = [...args, join(folder, "examples", `${name}.mjs`)];
  const { stdout } = await run(join(folder, "node_modules/.bin", program), words, { env, cwd: folder });
  expect(stdout).toMatch(said);
});

test("Bun runs tests without etcd", async () => {
  const bun = join(folder, "node_modules/.bin/bun");
  const { stderr } = await run(bun, ["test", "examples/testing.test.mjs"], { cwd: folder });
  expect(stderr).toMatch(/ 2 pass\n 0 fail/);
});
