import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkOutput } from "../../src/check/output.ts";

function createFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "signalbox-output-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test("a private directory, and one that is not there yet, are fine", async () => {
  const folder = createFolder();
  expect(await checkOutput(folder)).toMatchObject({ level: "ok", detail: expect.stringContaining(folder) });
  expect(await checkOutput(join(folder, "later"))).toMatchObject({ level: "ok" });
  expect(await checkOutput(undefined)).toMatchObject({
    level: "ok",
    detail: expect.stringContaining("set outputDirectory"),
  });
});

test("a directory that others can read is a warning with a remedy", async () => {
  const folder = createFolder();
  chmodSync(folder, 0o755);
  expect(await checkOutput(folder)).toMatchObject({
    level: "warning",
    remedy: expect.stringContaining("chmod 0700"),
    detail: expect.stringContaining("mode 0755"),
  });
});
