import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { createFolder } from "../../../src/core/process/create-folder.ts";

test("the folders above it are created too, and one that exists stays as it is", async () => {
  const folder = createTestFolder();
  const path = join(folder, "a/b/c");
  expect(await createFolder(path, 0o700)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(await createFolder(path, 0o755)).toBe(false);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  expect(await createFolder(join(folder, "link"), 0o700)).toBe(false);
});

test.each([
  ["a folder in which nothing can be created", () => "/proc/signalbox/x", /ENOENT/],
  ["a file in the way", (folder: string) => join(folder, "file/x"), /ENOTDIR/],
  ["a file of that name", (folder: string) => join(folder, "file"), /EEXIST/],
  ["a link that leads nowhere", (folder: string) => join(folder, "dangling"), /ENOENT/],
])("%s is an error, which does not take for ever", async (_, choosePath, why) => {
  const folder = createTestFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync("nowhere", join(folder, "dangling"));
  await expect(createFolder(choosePath(folder), 0o700)).rejects.toThrow(why);
});
