/** The files of a task on a disk that is full or slow. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { clock } from "../../../fixtures/process/guarded-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { createHandlerFixture, createTask } from "../../../fixtures/worker/handler-fixture.ts";
import { openTaskFiles } from "../../../src/worker/handlers/task-files.ts";

test("a checkpoint that cannot be written leaves no folder", async () => {
  // The path of the folder has space for a name, and that of the checkpoint does not.
  let folder = createTestFolder();
  while (folder.length < 3_800) folder = join(folder, "x".repeat(200));
  folder = join(folder, "y".repeat(4_068 - folder.length));
  mkdirSync(folder, { recursive: true });
  const { TMPDIR: before } = process.env;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  process.env.TMPDIR = folder;
  const { ports } = createHandlerFixture();
  const opened = await openTaskFiles(ports, createTask());
  expect(opened).toBeDefined();
  await opened?.close();
  expect(await openTaskFiles(ports, { ...createTask(), checkpoint: "half" })).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

test("a checkpoint that is being read when the command has succeeded is not saved", async () => {
  const turn = Promise.withResolvers<void>();
  const { ports } = createHandlerFixture({ clock: { ...clock, sleep: () => turn.promise } });
  const saved: string[] = [];
  const saveCheckpoint = async (text: string) => void saved.push(text);
  const files = await openTaskFiles(ports, { ...createTask(), saveCheckpoint });
  const { SIGNALBOX_CHECKPOINT_FILE: path = "" } = files?.env ?? {};
  writeFileSync(path, "half");
  turn.resolve();
  for (let n = 0; n < 10; n += 1) await null; // it begins to read the files
  await files?.close();
  expect(saved).toEqual([]);
  expect(existsSync(path)).toBe(false);
});
