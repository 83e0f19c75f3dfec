/** The npm package, installed without network and compiler, and without packages that are optional. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { createCleanEnv } from "../../fixtures/signalbox.ts";
import { isStatic } from "../../scripts/build/native.ts";
import { HASH_LIST } from "../../src/core/process/native/locate.ts";

let prefix: string;
let etcd: EtcdMember;
beforeAll(async () => {
  prefix = mkdtempSync(join(tmpdir(), "signalbox-npm-"));
  mkdirSync(join(prefix, "lib")); // without it, npm fails
  const folder = inject("packages");
  const [name = "none"] = readdirSync(folder).filter((one) => /^signalbox-[\d.]+\.tgz$/.test(one));
  const how = ["--global", "--offline", "--omit=optional", "--prefix", prefix];
  execFileSync("npm", ["install", ...how, join(folder, name)], { stdio: "inherit" });
  etcd = await startEtcd();
});
afterAll(async () => {
  await etcd?.stop();
  rmSync(prefix, { recursive: true, force: true });
});

test("has no dependencies but those of gRPC, which are optional, no install script, and names its systems", () => {
  const manifest = JSON.parse(readFileSync(join(findInstalled(), "package.json"), "utf8"));
  expect(manifest.dependencies ?? {}).toEqual({});
  expect(Object.keys(manifest.optionalDependencies)).toEqual([
    "@grpc/grpc-js",
    "cockatiel",
    "etcd3",
    "protobufjs",
  ]);
  expect(Object.keys(manifest.scripts).filter((name) => name.includes("install"))).toEqual([]);
  expect({ os: manifest.os, cpu: manifest.cpu }).toEqual({ os: ["linux", "darwin"], cpu: ["x64", "arm64"] });
  expect(manifest.private).toBeUndefined();
});

test.each(["x64", "arm64"])("has static programs for %s, and their hashes", (arch) => {
  const folder = join(findInstalled(), "dist/native", arch);
  const programs = ["guardian", "launcher", "notify", "peer.node"];
  expect(readdirSync(folder).sort()).toEqual([HASH_LIST, ...programs]);
  for (const name of programs) expect(isStatic(join(folder, name))).toBe(true);
  execFileSync("sha256sum", ["--check", "--strict", HASH_LIST], { cwd: folder });
});

test("npx runs it from the tarball, without an installation: a job, and the console", async () => {
  const [name = "none"] = readdirSync(inject("packages")).filter((one) =>
    /^signalbox-[\d.]+\.tgz$/.test(one),
  );
  const npx = ["--offline", "--yes", "--package", join(inject("packages"), name), "signalbox"];
  const cache = { npm_config_cache: join(prefix, "npx"), npm_config_omit: "optional" };
  const job = start("npx", [...npx, "run", "--lock", "npx", "--", "sh", "-c", "exit 3"], cache);
  expect(job).toMatchObject({ status: 3, stderr: "" });
  const once = start("npx", [...npx, "console", "--once", "--view", "history", "--size", "100x30"], cache);
  expect(once).toMatchObject({ status: 0, stdout: expect.stringContaining("npx") });
});

test("runs a locked job", () => {
  const script = 'echo "$SIGNALBOX_TOKEN"';
  const { status, stdout, stderr } = runInstalled("run", "--lock", "job", "--", "sh", "-c", script);
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^\d+\n$/),
    stderr: "",
  });
});

test("its program is the launcher, which finds no agent", () => {
  const { status, stderr } = runInstalled("run", "--agent", "always", "--lock", "job", "--", "true");
  expect({ status, stderr }).toEqual({
    status: 69,
    stderr: expect.stringContaining("no agent serves this call"),
  });
});

test("without a launcher for this processor, its program is Node", () => {
  const launcher = join(findInstalled(), "dist/native", process.arch, "launcher");
  renameSync(launcher, `${launcher}.away`);
  try {
    expect(runInstalled("run", "--lock", "job", "--", "sh", "-c", "exit 3")).toMatchObject({ status: 3 });
  } finally {
    renameSync(`${launcher}.away`, launcher);
  }
});

test("a link named after a tool behaves like that tool", () => {
  const link = join(prefix, "bin/golock");
  symlinkSync("signalbox", link);
  const { status, stdout } = start(link, ["--help"]);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("golock") });
});

test.each(["evacuate", "freeze", "rolling", "thaw"])("has the maintenance script %s.mjs", (name) => {
  const { status, stdout, stderr } = runScript(name, "--help");
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: expect.stringContaining(`  ${name}.mjs`),
    stderr: "",
  });
});

test("freezes and thaws with its maintenance scripts", () => {
  expect(runScript("freeze", "--timeout", "1m")).toMatchObject({ status: 0 });
  expect(runInstalled("run", "--lock", "job", "--", "true")).toMatchObject({ status: 75 });
  expect(runScript("thaw")).toMatchObject({ status: 0 });
  expect(runInstalled("run", "--lock", "job", "--", "true")).toMatchObject({ status: 0 });
});

function runScript(name: string, ...args: readonly string[]) {
  return start(join(findInstalled(), "dist/maintenance", `${name}.mjs`), args);
}

function runInstalled(...args: readonly string[]) {
  return start(join(prefix, "bin/signalbox"), args);
}

function start(program: string, args: readonly string[], more: Record<string, string> = {}) {
  const env = {
    ...createCleanEnv(),
    ...more,
    PATH: [join(prefix, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
    SIGNALBOX_ENDPOINTS: etcd.clientUrl,
    XDG_STATE_HOME: prefix,
  };
  return spawnSync(program, args, { env, encoding: "utf8" });
}

function findInstalled() {
  return join(prefix, "lib/node_modules/signalbox");
}
