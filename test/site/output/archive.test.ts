/** An archive: its files while processes write, die, and find no space. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import type { Clock } from "../../../src/core/base/clock.ts";
import { type LogFields, silentLog } from "../../../src/core/base/log.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { type ArchiveOptions, ArchiveWriter, readArchive } from "../../../src/site/output/archive.ts";

const SRC = resolve(import.meta.dirname, "../../../src");

const realClock = createRealClock();
/** Retries soon. */
const clock: Clock = {
  now: () => realClock.now(),
  getWallTime: () => realClock.getWallTime(),
  sleep: (ms, signal) => realClock.sleep(ms === 5_000 ? 20 : ms, signal),
};

function createArchive(more: Partial<ArchiveOptions> = {}) {
  const options = { path: join(createTestFolder(), "history.jsonl"), size: 1e6, files: 3, ...more };
  const warnings: string[] = [];
  const warn = (text: string, { records, error }: LogFields = {}) =>
    void warnings.push([text, records, error].filter((part) => part !== undefined).join(" "));
  const open = (by = clock) =>
    new ArchiveWriter({ clock: by, random: realRandom, log: { ...silentLog, warn } }, options);
  return { ...options, warnings, open };
}

async function readIds(path: string) {
  const ids: string[] = [];
  let unreadable = 0;
  const count = (lines: number) => {
    unreadable += lines;
  };
  for await (const { id } of readArchive(path, count)) ids.push(id);
  return { ids, unreadable };
}

const waitForId = (path: string, id: string) =>
  waitUntil("it is written", async () => (await readIds(path).catch(() => undefined))?.ids.includes(id));

const name = (n: number) => `r${String(n).padStart(3, "0")}`;

test("what is written is read in its order, and only its user can read it", async () => {
  const { path, open } = createArchive();
  const writer = open();
  for (let n = 0; n < 50; n += 1) writer.append({ id: name(n) });
  await writer.close();
  expect((await readIds(path)).ids).toEqual(Array.from({ length: 50 }, (_, n) => name(n)));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a full file is renamed, and the oldest are removed", async () => {
  const { path, open } = createArchive({ size: 200, files: 3 });
  const writer = open();
  for (let n = 0; n < 40; n += 1) {
    writer.append({ id: name(n) });
    await waitForId(path, name(n));
  }
  await writer.close();
  const folder = join(path, "..");
  const files = readdirSync(folder);
  expect(files).toHaveLength(3);
  for (const file of files) expect(statSync(join(folder, file)).size).toBeLessThanOrEqual(200);
  const { ids } = await readIds(path);
  expect(ids.length).toBeGreaterThan(10);
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => name(40 - ids.length + n)));
});

test("what a process has left that was killed while it renamed a file keeps nobody from it for long", async () => {
  const { path, open } = createArchive({ size: 100, files: 3 });
  const lock = `${path}.lock`;
  writeFileSync(lock, "");
  const append = async (id: string) => {
    const writer = open();
    writer.append({ id, text: "x".repeat(60) });
    await writer.close();
    return readdirSync(join(path, "..")).length;
  };
  expect([await append("a"), await append("b")], "both in one file").toEqual([2, 2]);
  const minuteAgo = new Date(Date.now() - 60_000);
  utimesSync(lock, minuteAgo, minuteAgo);
  expect([await append("c"), await append("d")]).toEqual([2, 3]);
  expect((await readIds(path)).ids).toEqual(["a", "b", "c", "d"]);
});

test("the newest records stay after the host's clock was set back", async () => {
  const { path, open } = createArchive({ size: 100, files: 3 });
  const year = 365 * 86_400_000;
  let n = 0;
  for (const ahead of [year, 0]) {
    const writer = open({ ...clock, getWallTime: () => clock.getWallTime() + ahead });
    for (const end = n + 10; n < end; n += 1) {
      writer.append({ id: name(n) });
      await waitForId(path, name(n));
    }
    await writer.close();
  }
  const { ids } = await readIds(path);
  expect(ids.length).toBeGreaterThan(5);
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => name(20 - ids.length + at)));
});

test("many records that have waited fill one file after the other, so that no hardly begun one takes the place of an old one", async () => {
  const { path, open } = createArchive({ size: 2_000, files: 10_000 });
  const first = open();
  first.append({ id: name(0) });
  await first.close();
  const writer = open();
  for (let n = 1; n < 200; n += 1) writer.append({ id: name(n), text: "x".repeat(60) });
  await writer.close();
  const folder = join(path, "..");
  const sizes = readdirSync(folder).map((file) => statSync(join(folder, file)).size);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000);
  expect(sizes.filter((size) => size < 1_800).length).toBeLessThanOrEqual(1); // the current one
  expect((await readIds(path)).ids).toEqual(Array.from({ length: 200 }, (_, n) => name(n)));
});

test("of several writers at the same time, nothing is lost or torn", async () => {
  const { path, open } = createArchive({ size: 2_000, files: 10_000 });
  const writers = Array.from({ length: 4 }, () => open());
  const wanted: string[] = [];
  for (let n = 0; n < 400; n += 1) {
    writers[n % 4]?.append({ id: name(n), text: "x".repeat(n % 90) });
    wanted.push(name(n));
    if (n % 7 === 0) await new Promise(setImmediate);
  }
  await Promise.all(writers.map((writer) => writer.close()));
  const { ids, unreadable } = await readIds(path);
  expect([ids.sort(), unreadable]).toEqual([wanted, 0]);
});

/** Appends records with a writer for each, as short runs do. It says which it has written. */
const APPENDING = (name: string, options: ArchiveOptions) => `
  import { ArchiveWriter } from "${SRC}/site/output/archive.ts";
  import { createRealClock } from "${SRC}/core/process/clock.ts";
  import { realRandom } from "${SRC}/core/process/random.ts";
  const log = { debug() {}, info() {}, warn: console.error, error: console.error };
  for (let n = 0; ; n += 1) {
    const ports = { clock: createRealClock(), random: realRandom, log };
    const writer = new ArchiveWriter(ports, ${JSON.stringify(options)});
    writer.append({ id: "${name}-" + n, text: "x".repeat(100) });
    await writer.close();
    console.log("${name}-" + n);
  }`;

test("of several processes that rename full files and are killed, nothing is lost, and full files are full", async () => {
  const { path, size, files } = createArchive({ size: 20_000, files: 10_000 });
  const script = (name: string) => writeTestFile(`${name}.ts`, APPENDING(name, { path, size, files }));
  const children = Array.from({ length: 6 }, (_, n) => spawn(process.execPath, [script(`p${n}`)]));
  let output = "";
  let faults = "";
  for (const { stdout, stderr } of children) {
    stdout.on("data", (chunk) => (output += chunk));
    stderr.on("data", (chunk) => (faults += chunk));
  }
  await waitUntil("many files", () => faults !== "" || output.split("\n").length > 2_000);
  const ended = children.map((child) => once(child, "close"));
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(ended);
  expect(faults).toBe("");
  const written = output.split("\n").filter((line) => /^p\d-\d+$/.test(line));
  const { ids, unreadable } = await readIds(path);
  const all = new Set(ids);
  expect(written.filter((id) => !all.has(id))).toEqual([]);
  expect(unreadable).toBe(0);
  const full = readdirSync(join(path, "..")).filter((file) => /^history\.jsonl\.\d/.test(file));
  const small = full.filter((file) => statSync(join(path, "..", file)).size < size / 2);
  expect(full.length).toBeGreaterThan(8);
  expect(small).toEqual([]);
});

test("a reader misses nothing of a file that is renamed while it reads", async () => {
  const { path, open } = createArchive({ size: 400, files: 10_000 });
  const writer = open();
  const append = async (n: number) => {
    writer.append({ id: name(n), text: "x".repeat(60) });
    await waitForId(path, name(n));
  };
  for (let n = 0; n < 12; n += 1) await append(n);
  const ids: string[] = [];
  for await (const { id } of readArchive(path, () => {})) {
    if (ids.length === 0) for (let n = 12; n < 24; n += 1) await append(n);
    ids.push(id);
  }
  await writer.close();
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => name(n)));
  expect(ids.length).toBeGreaterThanOrEqual(12);
});

test("a line that a killed process has left is left out, and the next one is whole; copies are read once", async () => {
  const { path, open } = createArchive();
  writeFileSync(path, '{"v":1,"id":"a"}\n{"v":1,"id":"b"}\n{"v":1,"id":"tor');
  const writer = open();
  writer.append({ id: "b" });
  writer.append({ id: "c" });
  await writer.close();
  appendFileSync(path, 'null\n"text"\n{"id":7}\n');
  expect(await readIds(path)).toEqual({ ids: ["a", "b", "c"], unreadable: 4 });
});

function linkFull(path: string) {
  const target = join(createTestFolder(), "target");
  writeFileSync(target, "x".repeat(2e6));
  symlinkSync(target, path);
}

describe("what cannot be written waits, is told once, and is written later", () => {
  test.each<[string, (path: string) => void, string]>([
    ["a link", (path) => symlinkSync("/etc/hostname", path), "it is a symbolic link, which is not followed"],
    ["a link to a full file", (path) => linkFull(path), "it is a symbolic link, which is not followed"],
    ["a directory", (path) => mkdirSync(path), "EISDIR"],
    ["a pipe", (path) => execFileSync("mkfifo", [path]), "not a file"],
  ])("%s", async (_, block, why) => {
    const { path, warnings, open } = createArchive();
    block(path);
    const writer = open();
    writer.append({ id: "a" });
    await waitUntil("a warning", () => warnings.length > 0);
    writer.append({ id: "b" });
    await new Promise((resolve) => setTimeout(resolve, 50)); // some more attempts
    expect(warnings).toEqual([expect.stringContaining(why)]);
    rmSync(path, { recursive: true });
    await waitForId(path, "b");
    expect((await readIds(path)).ids).toEqual(["a", "b"]);
    await writer.close();
    expect(warnings).toHaveLength(1);
  });

  test.runIf(process.getuid?.() === 0)("a full disk (as root)", async () => {
    const folder = createTestFolder();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=32k", "tmpfs", folder]);
    onTestFinished(() => void execFileSync("umount", [folder]));
    const { path, warnings, open } = createArchive({ path: join(folder, "history.jsonl") });
    const ballast = join(folder, "ballast");
    writeFileSync(ballast, "x".repeat(24_000));
    const writer = open();
    for (let n = 0; n < 200; n += 1) {
      writer.append({ id: name(n), text: "y".repeat(20) });
      await new Promise(setImmediate);
    }
    await waitUntil("a warning", () => warnings.length > 0);
    expect(warnings[0]).toMatch(/ENOSPC|full/);
    rmSync(ballast);
    await waitUntil("all is written", async () => (await readIds(path)).ids.length === 200);
    await writer.close();
    expect(warnings).toHaveLength(1);
  });

  test("the end of the process does not wait for it, and says what is lost", async () => {
    const { path, warnings, open } = createArchive();
    mkdirSync(path);
    const writer = open();
    writer.append({ id: "a" });
    writer.append({ id: "b" });
    await writer.close();
    expect(warnings).toEqual([expect.stringMatching(/^records were not archived 2 Error: EISDIR/)]);
  });
});

test("a folder that cannot be created is reported, and does not delay the end of the process", async () => {
  const { warnings, open } = createArchive({ path: "/proc/signalbox/x/history.jsonl" });
  const writer = open();
  writer.append({ id: "a" });
  await waitUntil("a warning", () => warnings.length > 0);
  expect(warnings).toEqual([expect.stringMatching(/ENOENT/)]);
  await writer.close();
});

test("a character that ends a line elsewhere does not end a record", async () => {
  const { path, open } = createArchive();
  const writer = open();
  writer.append({ id: "a\u2028b", tail: "\u2029\r\n" });
  await writer.close();
  expect(await readIds(path)).toEqual({ ids: ["a\u2028b"], unreadable: 0 });
});

test("a line without an end, as a power failure leaves it, is left out and takes little memory", async () => {
  const { path, open } = createArchive();
  writeFileSync(path, '{"v":1,"id":"a"}\n');
  truncateSync(path, 600 * 2 ** 20); // no text of JavaScript is so long
  appendFileSync(path, '\n{"v":1,"id":"b"}\n');
  const writer = open();
  writer.append({ id: "ü" });
  await writer.close();
  expect(await readIds(path)).toEqual({ ids: ["a", "b", "ü"], unreadable: 1 });
});

test.each(["/dev/zero", "/dev"])("what is not a file is not read: %s", async (path) => {
  await expect(readIds(path)).rejects.toThrow(/cannot read the archive .*: it is not a file/);
});

test("an archive that is not there is named", async () => {
  await expect(readIds("/nowhere/history.jsonl")).rejects.toThrow('cannot read the archive "/nowhere');
});
