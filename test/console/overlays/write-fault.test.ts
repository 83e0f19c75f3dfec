/** A full disk: the message names path and cause, and nothing half written stays. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { describeWriteFault, writeExport } from "../../../src/console/overlays/write-export.ts";

const isRoot = process.getuid?.() === 0;
/** More than the disk of the test has. */
const LONG = "x".repeat(1_000_000);

/** Mounts a disk of 64 KiB until the end of the test. @returns undefined if this machine does not allow it */
function mountSmallDisk(): string | undefined {
  const folder = createTestFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", [folder]));
  return folder;
}

it.runIf(isRoot)("on a full disk an export leaves no part", async (context) => {
  const folder = mountSmallDisk();
  if (folder === undefined) return context.skip("cannot mount a tmpfs");
  const path = join(folder, "a.md");
  const fault = `cannot write "${path}": the disk is full; nothing was written`;
  expect(await writeExport(path, LONG, false)).toEqual({ kind: "fault", text: fault });
  expect(readdirSync(folder)).toEqual([]);
  expect(await writeExport(path, "short", false)).toEqual({ kind: "written" });
  expect(await writeExport(path, LONG, true)).toEqual({ kind: "fault", text: fault });
  expect(readdirSync(folder)).toEqual(["a.md"]);
});

it("an unknown cause is told as it is", () => {
  expect(describeWriteFault(new Error("odd"), "/a")).toBe('cannot write "/a": odd; nothing was written');
});
