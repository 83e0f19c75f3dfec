import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { writeAll } from "../../src/bin/write-all.ts";

const MODULE = join(import.meta.dirname, "../../src/bin/write-all.ts");

test("a text that does not fit into the pipe is written completely", async () => {
  const code = `import { writeAll } from ${JSON.stringify(MODULE)}; writeAll(1, "x".repeat(1_000_000) + "end");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
  await sleep(300); // the reader is slow
  const read = await text(child.stdout);
  expect(read.length).toBe(1_000_003);
  expect(read.endsWith("xend")).toBe(true);
});

test("a failure is thrown", () => {
  const descriptor = openSync(MODULE, "r");
  onTestFinished(() => closeSync(descriptor));
  expect(() => writeAll(descriptor, "x")).toThrow("EBADF");
});
