import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { checkOutput } from "../../../src/site/check/this-host.ts";

test("a private directory, and one that is not there yet, are fine", async () => {
  const folder = createTestFolder();
  expect(await checkOutput(folder)).toMatchObject({ level: "ok", detail: expect.stringContaining(folder) });
  expect(await checkOutput(join(folder, "later"))).toMatchObject({ level: "ok" });
  expect(await checkOutput(undefined)).toMatchObject({
    level: "ok",
    detail: expect.stringContaining("set outputDirectory"),
  });
});

test("a directory that others can read is a warning with a remedy", async () => {
  const folder = createTestFolder();
  chmodSync(folder, 0o755);
  expect(await checkOutput(folder)).toMatchObject({
    level: "warning",
    remedy: expect.stringContaining("chmod 0700"),
    detail: expect.stringContaining("mode 0755"),
  });
});
