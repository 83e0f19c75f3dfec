/** `signalbox init` and `doctor` start the guardian once, and say why it cannot start, before a run fails. */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";

const cluster = TestCluster.startForFile();
let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "signalbox-guardian-"));
  symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(root, "node_modules"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** signalbox as installed in a folder of its own, with a guardian that has a fault. */
function install(
  spoil: (guardian: string) => void,
  parent = root,
  { endpoints = cluster.endpoints.join(","), ...more }: Record<string, string> = {},
) {
  const dist = mkdtempSync(join(parent, "dist-"));
  cpSync(dirname(BUNDLE), dist, { recursive: true });
  spoil(join(dist, "native", process.arch, "guardian"));
  const namespace = cluster.createNamespace();
  return (...args: string[]) => {
    const env = { ...namespace.env, PATH: process.env.PATH, SIGNALBOX_ENDPOINTS: endpoints, ...more };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "signalbox.cjs"), ...args], {
      ...{ env, encoding: "utf8" },
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
  test("that starts: init and doctor say so", async () => {
    const namespace = cluster.createNamespace();
    expect((await namespace.execute(["init"])).stdout).toMatch(/^ok {6}guardian: it starts/);
    expect((await namespace.execute(["doctor"])).stdout).toMatch(/^ok {6}guardian: it starts/m);
    const { findings } = JSON.parse((await namespace.execute(["init", "--json"])).stdout);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "guardian", id: "guardian", level: "ok" }),
    );
  });

  test.each<[name: string, spoil: (guardian: string) => void, why: RegExp]>([
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
    ["a folder", makeFolder, /guardian: it is not a file/],
    [
      "for another processor",
      makeForeign,
      new RegExp(`guardian: it is built for ${OTHER}, and this host is .*npm run build`),
    ],
    ["empty", (path) => writeFileSync(path, ""), /guardian/],
    [
      "of a version that says nothing of ours",
      (path) => writeFileSync(path, "#!/bin/sh\nexit 0\n"),
      /guardian/,
    ],
  ])("that is %s: 78 from init, 2 from doctor, and run starts nothing", (_, spoil, why) => {
    const signalbox = install(spoil);
    const init = signalbox("init");
    expect(init).toMatchObject({
      code: 78,
      stdout: expect.stringMatching(/^FAILURE guardian: no command can run on this host: /),
    });
    expect(init.stdout.split("\n")[0]).toMatch(why);
    expect(init.stdout).toMatch(/^ok {6}permissions: /m); // the rest is told all the same
    const doctor = signalbox("doctor", "--nagios");
    expect(doctor).toMatchObject({ code: 2, stdout: expect.stringMatching(/CRITICAL - \d.*: guardian: /) });
    const run = signalbox("run", "--lock", "a", "--", "echo", "ran");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 78, stdout: "" });
    expect(run.stderr).toMatch(why);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(1); // no shell took its bytes for commands
  });

  test.skipIf(process.getuid?.() !== 0)("on a file system that is mounted noexec", () => {
    const mount = mkdtempSync(join(root, "mount-"));
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "noexec,size=64m", "none", mount]);
    if (status !== 0) return; // root of a container, who may not mount
    onTestFinished(() => void spawnSync("umount", ["-l", mount]));
    symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(mount, "node_modules"));
    const signalbox = install(() => {}, mount);
    const init = signalbox("init");
    expect(init.code).toBe(78);
    expect(init.stdout).toContain(`it is on ${mount}, which is mounted noexec`);
  });
});

test("etcd is away: init tells of a guardian that cannot start all the same", () => {
  const signalbox = install(rmSync, root, {
    endpoints: "http://127.0.0.1:1",
    SIGNALBOX_CONNECT_TIMEOUT: "100ms",
  });
  const init = signalbox("init");
  expect(init).toMatchObject({ code: 69, stdout: expect.stringMatching(/^FAILURE guardian: /) });
});
