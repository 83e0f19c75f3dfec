/** An installation without npm packages: only dist/, as with `npm install --omit=optional`. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUNDLE, createCleanEnv } from "../../fixtures/signalbox.ts";
import manifest from "../../package.json" with { type: "json" };

/** A port on which nothing listens. */
const NO_ETCD = "http://127.0.0.1:1";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-installation-"));
  cpSync(dirname(BUNDLE), folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runNode(args: readonly string[], env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...createCleanEnv(), NODE_PATH: "", HOME: folder, SIGNALBOX_ENDPOINTS: NO_ETCD, ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

function startInstalled(args: readonly string[], env: Record<string, string> = {}) {
  return runNode([join(folder, "signalbox.cjs"), ...args], env);
}

test.each([
  ["run", ["run", "--lock", "x", "--", "true"]],
  ["ls", ["ls", "locks"]],
  ["the console", ["console", "--once"]],
  ["the agent", ["agent", "--agent-socket", "agent.sock"]],
  ["the worker", ["worker"]],
  ["the page", ["serve"]],
  ["a front end", ["golock", "x", "true"], 201], // as golock itself
  ["doctor", ["doctor"]],
])("%s names the missing package etcd3, and what to do", (_what, args, code = 78) => {
  const { status, stderr } = startInstalled(args, { SIGNALBOX_TRANSPORT: "grpc" });
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringContaining("npm install etcd3") });
  expect(stderr).not.toContain("defect");
});

test("no file loads a package that is missing, but optional ones", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const loaded = files
    .filter((name) => /\.[cm]js$/.test(name))
    .flatMap((name) => findPackages(readFileSync(join(folder, name), "utf8")));
  const optional = [
    ...Object.keys(manifest.optionalDependencies),
    ...Object.keys(manifest.peerDependenciesMeta),
  ];
  expect([...new Set(loaded)].sort()).toEqual(optional.sort());
});

/** Finds the packages that a bundle does not contain. */
function findPackages(text: string) {
  const calls = [
    ...text.matchAll(/\b(?:require|import)\("([^"./][^"]*)"\)|^(?:import|export) .*?from "([^"./][^"]*)"/gm),
  ];
  return calls.map(([, called, from]) => called ?? from ?? "").filter((name) => !isBuiltin(name));
}

test("the library names the missing packages, and works without them", () => {
  const library = JSON.stringify(join(folder, "library.mjs"));
  writeFileSync(
    join(folder, "program.mjs"),
    `import { connect, createTaskTracing } from ${library};
     await createTaskTracing().catch((error) => console.log(error.message));
     const endpoints = ["${NO_ETCD}"];
     await connect({ endpoints, transport: "grpc" }).catch((error) => console.log(error.message));
     await using connection = await connect({ endpoints, transport: "http" });
     console.log(typeof connection.withLock);`,
  );
  const { stdout, stderr } = runNode([join(folder, "program.mjs")], {});
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/npm install @opentelemetry\/api\n.*npm install etcd3.*\nfunction\n$/),
    stderr: "",
  });
});

test.each([
  ["run", ["run", "--lock", "x", "--", "true"]],
  ["ls", ["ls", "locks"]],
  ["the console", ["console", "--once"]],
])("%s locates the fault of a configuration file", (_what, args) => {
  writeFileSync(join(folder, "config.json"), '{\n"ttl": oops}');
  const { status, stderr } = startInstalled(args, { SIGNALBOX_CONFIG: join(folder, "config.json") });
  expect({ status, stderr }).toEqual({ status: 78, stderr: expect.stringContaining("line 2, column") });
});

test("a worker prefers etcd3, but works without it", () => {
  const fast = { SIGNALBOX_CONNECT_TIMEOUT: "100ms" };
  const { status, stderr } = startInstalled(["worker"], fast);
  expect({ status, stderr }).toEqual({ status: 69, stderr: expect.stringContaining("cannot reach etcd") });
  expect(stderr).not.toContain("etcd3");
});

test("YAML files are read", () => {
  writeFileSync(join(folder, "worker.yaml"), "handlers: []\nconcurrency: many\n");
  const { status, stderr } = startInstalled(["worker", "--handlers", "worker.yaml"]);
  expect({ status, stderr }).toEqual({ status: 78, stderr: expect.stringContaining("line 2, column 1") });
});

test("cron texts are read by the package cron-parser", () => {
  const { status, stdout } = startInstalled(["schedule", "explain", "0 0 * * sat-mon"]);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("Saturday") });
});
