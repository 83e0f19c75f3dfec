/** The examples under Bun and Deno, as npm installs them, with the built package. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";

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

const SERVICES = {
  leader: /I lead, token \d+/,
  "web-cron": /port \d+/,
};

/** A case for each runtime: its command line, and what an example says. */
function listCases(examples: Record<string, RegExp>) {
  return Object.entries(COMMANDS).flatMap(([runtime, words]) =>
    Object.entries(examples).map(([name, said]) => ({ runtime, words, name, said })),
  );
}
type Case = ReturnType<typeof listCases>[number];

/** The words of a case, and the options of its process. */
function prepare({ words: [program, ...args], name }: Case, namespace: TestNamespace) {
  const { PATH } = process.env;
  const endpoints = { SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(",") };
  const env = { ...namespace.env, ...endpoints, PATH, HOME: folder };
  const path = join(folder, "examples", `${name}.mjs`);
  return [join(folder, "node_modules/.bin", program), [...args, path], { env, cwd: folder }] as const;
}

test.each(listCases(EXAMPLES))("$runtime runs $name", async (example) => {
  const { stdout } = await run(...prepare(example, cluster.createNamespace()));
  expect(stdout).toMatch(example.said);
});

test.each(listCases(SERVICES))("$runtime runs $name until it is ended", async (example) => {
  const { name, said } = example;
  const namespace = cluster.createNamespace();
  const child = spawn(...prepare(example, namespace));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  try {
    const ended = once(child, "close");
    await waitUntil("its start", () => said.test(text));
    if (name === "web-cron") {
      await namespace.execute(["schedule", "trigger", "digest.daily", "--yes"]);
      await waitUntil("its task", () => text.includes("digest.daily: ok"));
    }
    child.kill("SIGTERM");
    expect(await ended, text).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});

const DENO_TEST = "test --no-check --allow-all --node-modules-dir=manual".split(" ");
test.each([
  ["bun", ["test"], / 2 pass\n 0 fail/],
  ["deno", DENO_TEST, /ok \| 2 passed/],
] as const)("%s runs tests without etcd", async (runtime, words, said) => {
  const program = join(folder, "node_modules/.bin", runtime);
  const options = { cwd: folder, env: { ...process.env, NO_COLOR: "1" } };
  const { stdout, stderr } = await run(program, [...words, "examples/testing.test.mjs"], options);
  expect(stdout + stderr).toMatch(said);
});
