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

const cases = Object.keys(VERSIONS).flatMap((runtime) =>
  Object.entries(EXAMPLES).map(([name, said]) => [runtime as keyof typeof VERSIONS, name, said] as const),
);

const services = [
  ["leader", /I lead, token \d+/],
  ["web-cron", /port \d+/],
] as const;
const serviceCases = Object.keys(VERSIONS).flatMap((runtime) =>
  services.map(([name, started]) => [runtime as keyof typeof VERSIONS, name, started] as const),
);

/** Returns the command line of a program under a runtime. */
function buildCommand(runtime: keyof typeof VERSIONS, name: string): [program: string, args: string[]] {
  const [program, ...args] = COMMANDS[runtime];
  return [join(folder, "node_modules/.bin", program), [...args, join(folder, "examples", `${name}.mjs`)]];
}

function buildEnv(namespace: TestNamespace): NodeJS.ProcessEnv {
  return {
    ...namespace.env,
    PATH: process.env.PATH,
    HOME: folder,
    SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(","),
  };
}

test.each(cases)("%s runs %s", async (runtime, name, said) => {
  const [program, args] = buildCommand(runtime, name);
  const { stdout } = await run(program, args, { env: buildEnv(cluster.createNamespace()), cwd: folder });
  expect(stdout).toMatch(said);
});

test.each(serviceCases)("%s runs %s until it is ended", async (runtime, name, started) => {
  const namespace = cluster.createNamespace();
  const [program, args] = buildCommand(runtime, name);
  const child = spawn(program, args, { env: buildEnv(namespace), cwd: folder });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  try {
    const ended = once(child, "close");
    await waitUntil("its start", () => started.test(text));
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

test("Bun runs tests without etcd", async () => {
  const bun = join(folder, "node_modules/.bin/bun");
  const { stderr } = await run(bun, ["test", "examples/testing.test.mjs"], { cwd: folder });
  expect(stderr).toMatch(/ 2 pass\n 0 fail/);
});

test("Deno runs tests without etcd", async () => {
  const deno = join(folder, "node_modules/.bin/deno");
  const args = [
    "test",
    "--no-check",
    "--allow-all",
    "--node-modules-dir=manual",
    "examples/testing.test.mjs",
  ];
  const { stdout } = await run(deno, args, { cwd: folder, env: { ...process.env, NO_COLOR: "1" } });
  expect(stdout).toMatch("ok | 2 passed");
});
