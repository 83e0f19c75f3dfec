/** `signalbox init`, `doctor` and the agent start the native programs once, and say why one cannot start, before a run fails. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { HASH_LIST } from "../../../src/core/process/native/locate.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "signalbox-guardian-"));
  symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(root, "node_modules"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** signalbox as installed in a folder of its own, with a native program that has a fault. */
interface Installation {
  bundle: string;
  env: NodeJS.ProcessEnv;
}

/** @param more  variables; `name`: the program with the fault, if it is not the guardian */
function prepareInstallation(
  spoil: (program: string) => void,
  parent = root,
  { endpoints = cluster.endpoints.join(","), name = "guardian", ...more }: Record<string, string> = {},
): Installation {
  const dist = mkdtempSync(join(parent, "dist-"));
  cpSync(dirname(BUNDLE), dist, { recursive: true });
  spoil(join(dist, "native", process.arch, name));
  const { env } = cluster.createNamespace();
  return {
    bundle: join(dist, "signalbox.cjs"),
    env: { ...env, PATH: process.env.PATH, SIGNALBOX_ENDPOINTS: endpoints, ...more },
  };
}

function install(...given: Parameters<typeof prepareInstallation>) {
  const { bundle, env } = prepareInstallation(...given);
  return (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bundle, ...args], {
      env,
      encoding: "utf8",
    });
    return { code: status, stdout, stderr };
  };
}

/** Gives an ELF file another processor. */
function makeForeign(path: string): void {
  const bytes = readFileSync(path);
  bytes.writeUInt16LE(bytes.readUInt16LE(18) === 183 ? 62 : 183, 18);
  writeFileSync(path, bytes);
}

function makeFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

const OTHER = process.arch === "arm64" ? "x86-64 \\(ELF machine 62\\)" : "AArch64 \\(ELF machine 183\\)";

describe.concurrent("a guardian", () => {
  test("that starts: init and doctor say so", async ({ namespace }) => {
    expect((await namespace.execute("init")).stdout).toMatch(/^ok {6}guardian: it starts/);
    expect((await namespace.execute("doctor")).stdout).toMatch(/^ok {6}guardian: it starts/m);
    const { findings } = await namespace.executeJson("init");
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "guardian", id: "guardian", level: "ok" }),
    );
  });

  test.each<[name: string, spoil: (guardian: string) => void, why: string | RegExp]>([
    [
      "missing",
      (path) => rmSync(path),
      /the guardian \(no command .* is missing: neither .*; build it with `npm run build`/,
    ],
    [
      "not executable",
      (path) => chmodSync(path, 0o644),
      /cannot be started: .*guardian: it is not executable; run: chmod \+x/,
    ],
    ["a folder", makeFolder, "guardian: it is not a file"],
    [
      "for another processor",
      makeForeign,
      new RegExp(`guardian: it is built for ${OTHER}, and this host is .*npm run build`),
    ],
    ["empty", (path) => writeFileSync(path, ""), "guardian"],
    [
      "of a version that says nothing of ours",
      (path) => writeFileSync(path, "#!/bin/sh\nexit 0\n"),
      "guardian",
    ],
  ])("that is %s: 78 from init, 2 from doctor, and run starts nothing", (_, spoil, why) => {
    const signalbox = install(spoil);
    const init = signalbox("init");
    expect(init).toExit(78, { stdout: /^FAILURE guardian: no command can run on this host: / });
    expect(init.stdout.split("\n")[0]).toMatch(why);
    expect(init.stdout).toMatch(/^ok {6}permissions: /m); // the rest is told all the same
    const doctor = signalbox("doctor", "--nagios");
    expect(doctor).toExit(2, { stdout: /CRITICAL - \d.*: guardian: / });
    const run = signalbox("run", "--lock", "a", "--", "echo", "ran");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 78, stdout: "" });
    expect(run.stderr).toMatch(why);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1); // no shell took its bytes for commands
  });

  test("that is killed by a seccomp filter", () => {
    const init = install((path) => writeFileSync(path, "#!/bin/sh\nkill -SYS $$\n"))("init");
    expect(init).toExit(78, { stdout: /^FAILURE guardian: .* was killed .*\n? *.*does a seccomp filter/ });
  });

  test.skipIf(process.getuid?.() !== 0)("on a file system that is mounted noexec", ({ onTestFinished }) => {
    const mount = mkdtempSync(join(root, "mount-"));
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "noexec,size=64m", "none", mount]);
    if (status !== 0) return; // root of a container, who may not mount
    onTestFinished(() => void spawnSync("umount", ["-l", mount]));
    symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(mount, "node_modules"));
    const signalbox = install(() => {}, mount);
    const init = signalbox("init");
    expect(init).toExit(78, { stdout: `it is on ${mount}, which is mounted noexec` });
  });
});

test("etcd is away: init tells of a guardian that cannot start all the same", () => {
  const signalbox = install(rmSync, root, {
    endpoints: "http://127.0.0.1:1",
    SIGNALBOX_CONNECT_TIMEOUT: "100ms",
  });
  const init = signalbox("init");
  expect(init).toExit(69, { stdout: /^FAILURE guardian: / });
});

describe.concurrent("a launcher", () => {
  test.each<[name: string, spoil: (path: string) => void, why: string | RegExp]>([
    ["missing", (path) => rmSync(path), /the launcher .* is missing: neither /],
    ["not executable", (path) => chmodSync(path, 0o644), "launcher: it is not executable; run: chmod +x"],
    ["for another processor", makeForeign, new RegExp(`launcher: it is built for ${OTHER}`)],
    [
      "empty",
      (path) => writeFileSync(path, ""),
      /launcher: spawn ENOEXEC|launcher: it ended with code 0, not 69/,
    ],
    [
      "killed by a seccomp filter",
      (path) => writeFileSync(path, "#!/bin/sh\nkill -SYS $$\n"),
      "launcher: a seccomp filter forbids",
    ],
    [
      "of another version",
      (path) => writeFileSync(path, "#!/bin/sh\nexit 3\n"),
      "launcher: it ended with code 3, not 69; it is damaged",
    ],
  ])("that is %s: 78 from init, 2 from doctor", (_, spoil, why) => {
    const signalbox = install(spoil, root, { name: "launcher" });
    const init = signalbox("init");
    expect(init).toExit(78, { stdout: /^FAILURE launcher: /m });
    expect(init.stdout).toMatch(why);
    expect(signalbox("doctor", "--nagios")).toExit(2);
  });
});

describe.concurrent("an addon", () => {
  test.each<[name: string, spoil: (path: string) => void, why: RegExp]>([
    ["missing", (path) => rmSync(path), /the addon .* is missing: neither /],
    ["for another processor", makeForeign, new RegExp(`peer.node: it is built for ${OTHER}`)],
    ["damaged", (path) => writeFileSync(path, ""), /cannot load .*peer.node/],
  ])("that is %s: runs work, and an agent does not start", (_, spoil, why) => {
    const signalbox = install(spoil, root, { name: "peer.node" });
    const init = signalbox("init");
    expect(init).toExit(0, { stdout: /^warning addon: no agent can run/m });
    expect(init.stdout).toMatch(why);
    expect(signalbox("run", "--lock", "a", "--", "true")).toExit(0);
    expect(signalbox("agent")).toExit(78, { stderr: why });
  });
});

describe.concurrent("a native program that is not that of its build", () => {
  const change = (path: string) => appendFileSync(path, "x"); // it still starts

  test.each([
    [
      "guardian",
      78,
      /^FAILURE hashes: guardian: it is damaged, or of another build: its SHA-256 is [0-9a-f]{64}, not /m,
    ],
    ["launcher", 78, /^FAILURE hashes: launcher: it is damaged/m],
    ["notify", 78, /^FAILURE hashes: notify: it is damaged/m],
    ["peer.node", 0, /^warning hashes: peer.node: it is damaged/m],
  ])("%s: %i from init, and it is named", (name, code, why) => {
    const signalbox = install(change, root, { name });
    expect(signalbox("init")).toExit(code, { stdout: why });
    expect(signalbox("doctor").stdout).toMatch(why);
  });

  test("without the list, init says so", () => {
    const init = install((path) => rmSync(join(dirname(path), HASH_LIST)))("init");
    expect(init).toExit(78, {
      stdout: /^FAILURE hashes: guardian: it cannot be compared with .*SHA256SUMS/m,
    });
  });

  test("a run whose guardian was cut off starts nothing, and names the check", () => {
    const run = install((path) => truncateSync(path, 1_000))("run", "--lock", "a", "--", "echo", "ran");
    expect(run).toExit(125, { stdout: "", stderr: "signalbox doctor says whether the guardian is damaged" });
  });
});

test("an agent whose guardian cannot start says so, and goes on", async () => {
  const folder = mkdtempSync(join(root, "agent-"));
  const more = { SIGNALBOX_AGENT_SOCKET: join(folder, "agent.sock") };
  const { bundle, env } = prepareInstallation(rmSync, root, more);
  const agent = spawn(process.execPath, [bundle, "agent"], { env });
  let log = "";
  agent.stderr.on("data", (text: Buffer) => {
    log += text;
  });
  const told = /guardian: no command can run on this host: .* is missing/;
  await waitUntil("a warning", () => told.test(log) || agent.exitCode !== null, { describe: () => log });
  expect(log).toMatch(told);
  agent.kill();
  expect(await once(agent, "exit")).toEqual([0, null]);
});
