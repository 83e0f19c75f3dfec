/** The package for arm64, under QEMU's user-mode emulation. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { createCleanEnv } from "../../fixtures/signalbox.ts";
import manifest from "../../package.json" with { type: "json" };
import { ARM64_ROOT, explainNoArm64, findArm64Emulator } from "./requirements.ts";

const obstacle = explainNoArm64();
const emulator = findArm64Emulator() ?? "";

describe.skipIf(obstacle !== undefined)(`package for arm64${obstacle ? ` (${obstacle})` : ""}`, () => {
  let folder: string;
  let etcd: EtcdMember;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-arm64-"));
    const packages = inject("packages");
    const [name = "none"] = readdirSync(packages).filter((one) => one.endsWith("-linux-arm64.tar.gz"));
    execFileSync("tar", ["-xf", join(packages, name), "-C", folder]);
    wrapInEmulator(findInstalled("native/arm64/guardian"));
    etcd = await startEtcd();
  });
  afterAll(async () => {
    await etcd?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  function findInstalled(path: string): string {
    return join(folder, "usr/lib/signalbox", path);
  }

  function startInstalled(...args: string[]) {
    const words = ["-L", ARM64_ROOT, findInstalled("node"), findInstalled("signalbox.cjs"), ...args];
    const { status, stdout, stderr } = spawnSync(emulator, words, {
      env: { ...createCleanEnv(), SIGNALBOX_ENDPOINTS: etcd.clientUrl },
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  }

  test("prints its version", () => {
    expect(startInstalled("--version")).toEqual({
      status: 0,
      stdout: `signalbox ${manifest.version}\n`,
      stderr: "",
    });
  });

  test("starts its guardian", () => {
    expect(startInstalled("init").stdout).toMatch(/^ok +guardian: it starts/m);
  });

  test("runs a locked job, and passes its exit code on", () => {
    const job = ["sh", "-c", 'echo "$SIGNALBOX_TOKEN"; exit 3'];
    const { status, stdout } = startInstalled("run", "--lock", "job", "--", ...job);
    expect({ status, stdout }).toEqual({ status: 3, stdout: expect.stringMatching(/^\d+\n$/) });
  });
});

/** Replaces a program with a script that starts it in the emulator, because the kernel cannot start it. */
function wrapInEmulator(path: string): void {
  renameSync(path, `${path}.arm64`);
  writeFileSync(path, `#!/bin/sh\nexec ${emulator} "$0.arm64" "$@"\n`, { mode: 0o755 });
}
