import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { clock } from "../../../fixtures/process/guarded-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { type Clock, toMonotonicTime } from "../../../src/core/base/clock.ts";
import { listSegments, openOutputDirectory, pruneOutput } from "../../../src/site/output/output-directory.ts";
import { OutputFile, OutputKeeper, OutputTail, writeInTurn } from "../../../src/site/output/output-keeper.ts";
import { findOutputStart, readRecords } from "../../../src/site/output/output-reader.ts";
import { cutFirst, getLostBytes, type OutputRecord } from "../../../src/site/output/output-record.ts";

const RUN = "abcdefghjkmnpqrs";
/** What the disk needs for a file besides its content. */
const FILE_BYTES = 4_096;

const createFolder = () => join(createTestFolder(), "output");

function openFile(directory: string, size: number, time = clock, faults: Error[] = []) {
  return new OutputFile(time, { directory, run: RUN, size, onFault: (error) => faults.push(error) });
}

async function readAll(directory: string, wanted = {}) {
  let { position, cut } = await findOutputStart(directory, RUN, wanted);
  const all = { records: [] as OutputRecord[], skipped: 0 };
  for (;;) {
    const { records, next, skipped } = await readRecords(directory, RUN, position, 10_000);
    if (records.length === 0) return all;
    all.records.push(...cutFirst(records, cut));
    all.skipped += skipped;
    [position, cut] = [next, 0];
  }
}

const joinData = (records: readonly OutputRecord[]) =>
  Buffer.concat(records.flatMap(({ kind, data }) => (kind <= 2 ? [data] : [])));

test("output is kept byte for byte, for its user only", async () => {
  const directory = createFolder();
  const file = openFile(directory, 1024 * 1024);
  const bytes = randomBytes(200_000);
  file.append(1, bytes.subarray(0, 150_000));
  file.append(2, bytes.subarray(150_000));
  await file.close();
  const { records } = await readAll(directory);
  expect(joinData(records).equals(bytes)).toBe(true);
  expect(joinData(records.filter(({ kind }) => kind === 2)).length).toBe(50_000);
  expect(records.at(-1)?.kind).toBe(4);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const { path } of await listSegments(directory, RUN)) expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("no more than the size is kept: the newest", async () => {
  const directory = createFolder();
  const file = openFile(directory, 64 * 1024);
  for (let count = 0; count < 2_000; count += 1)
    file.append(1, Buffer.from(`line ${count} ${"x".repeat(80)}\n`));
  await file.close();
  const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(64 * 1024);
  const text = joinData((await readAll(directory)).records).toString();
  expect(text).toMatch(/line 1999 x+\n$/);
  expect(text.length).toBeGreaterThan(16 * 1024);
});

test("the last lines, and what is newer than an instant", async () => {
  const directory = createFolder();
  let wall = 1_000;
  const file = openFile(directory, 64 * 1024, { ...clock, getWallTime: () => wall });
  for (const text of ["a\nb", "b\nc\n", "d\ne\n", "no end"]) {
    file.append(1, Buffer.from(text));
    wall += 1_000;
  }
  await file.close();
  const readText = async (wanted: object) => joinData((await readAll(directory, wanted)).records).toString();
  expect(await readText({ tail: 1 })).toBe("no end");
  expect(await readText({ tail: 4 })).toBe("c\nd\ne\nno end");
  expect(await readText({ tail: 5 })).toBe("bb\nc\nd\ne\nno end");
  expect(await readText({ tail: 99 })).toBe("a\nbb\nc\nd\ne\nno end");
  expect(await readText({ tail: 0 })).toBe("");
  expect(await readText({ since: 3_000 })).toBe("d\ne\nno end");
  expect(await readText({ since: 3_000, tail: 2 })).toBe("e\nno end");
});

test("a disk that takes nothing loses output, is reported once, and output is kept again when it does", async () => {
  const directory = createFolder();
  writeFileSync(directory, "a file where the directory should be");
  let now = 0;
  const faults: Error[] = [];
  const file = openFile(directory, 64 * 1024, { ...clock, now: () => toMonotonicTime(now) }, faults);
  file.append(1, Buffer.from("lost\n"));
  await expect.poll(() => faults.length).toBe(1);
  rmSync(directory);
  now += 10_000;
  file.append(1, Buffer.from("kept\n"));
  await file.close();
  const { records } = await readAll(directory);
  expect(joinData(records).toString()).toBe("kept\n");
  expect(records.map(getLostBytes).some((bytes) => bytes > 0)).toBe(true);
  expect(faults).toHaveLength(1);
});

test.runIf(process.getuid?.() === 0)("a full disk leaves no segment without a record (as root)", async () => {
  const folder = createTestFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=32k,mode=700", "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", [folder]));
  const ballast = join(folder, "ballast");
  for (const free of [0, 8_192]) {
    writeFileSync(ballast, Buffer.alloc(32_768 - free));
    const file = openFile(folder, 1024 * 1024);
    file.append(1, Buffer.alloc(16_000, "x"));
    await file.close();
    expect(await listSegments(folder, RUN)).toEqual([]);
  }
});

/** Takes the turn of all writes, as one that the disk does not answer. @returns what answers it */
function holdWrites() {
  const answer = Promise.withResolvers<void>();
  const held = writeInTurn(clock, () => answer.promise);
  isPatient = false;
  const release = async () => {
    isPatient = true;
    answer.resolve();
    await held;
  };
  onTestFinished(release);
  return release;
}

let isPatient = true;
/** A clock with which no write waits for those before it unless it is patient. */
const impatient: Clock = {
  ...clock,
  sleep: async (ms, signal) => (isPatient ? await clock.sleep(ms, signal) : undefined),
};
const SILENCE = "the disk does not answer";

test("a disk that does not answer a write gets no more writes until it does: later ones fail, then at once", async () => {
  const answer = holdWrites();
  const early = writeInTurn(clock, async () => {});
  await expect(writeInTurn(impatient, () => expect.unreachable())).rejects.toThrow(SILENCE);
  await expect(writeInTurn(clock, () => expect.unreachable())).rejects.toThrow(SILENCE);
  await answer();
  await early;
  await expect(writeInTurn(clock, () => Promise.reject(new Error("full")))).rejects.toThrow("full");
  await writeInTurn(clock, async () => {});
});

test("output that the disk did not answer in time costs nothing of what was kept before", async () => {
  const directory = createFolder();
  let now = 0;
  const faults: Error[] = [];
  const file = openFile(directory, 64 * 1024, { ...impatient, now: () => toMonotonicTime(now) }, faults);
  file.append(1, Buffer.from("one\n"));
  await expect.poll(async () => (await readAll(directory)).records).toHaveLength(1);
  const answer = holdWrites();
  file.append(1, Buffer.from("two\n"));
  await expect.poll(() => faults).toMatchObject([{ message: SILENCE }]);
  await answer();
  now += 10_000;
  file.append(1, Buffer.from("six\n"));
  await file.close();
  const { records } = await readAll(directory);
  expect(joinData(records).toString()).toBe("one\nsix\n");
  expect(records.some((record) => getLostBytes(record) > 0)).toBe(true);
  expect(await listSegments(directory, RUN)).toHaveLength(1);
});

test("the end of a run waits with its file for a disk that does not answer", async () => {
  const directory = createFolder();
  const storage = { directory, size: 65_536, age: 60_000, masks: [] };
  const keeper = new OutputKeeper(impatient, { ...storage, run: RUN, onFault: () => {} });
  keeper.take(Buffer.from("one\n"), 1);
  await expect.poll(async () => (await readAll(directory)).records).toHaveLength(1);
  const isOpen = () => readdirSync("/proc/self/fd").some((at) => isLinkTo(`/proc/self/fd/${at}`, directory));
  const answer = holdWrites();
  const closing = keeper.close();
  await expect(writeInTurn(impatient, () => expect.unreachable())).rejects.toThrow(SILENCE);
  expect(isOpen()).toBe(true);
  await answer();
  await closing;
  expect(isOpen()).toBe(false);
});

function isLinkTo(path: string, directory: string) {
  try {
    return readlinkSync(path).startsWith(directory);
  } catch {
    return false; // closed meanwhile
  }
}

test("a damaged record costs the rest of its segment only", async () => {
  const directory = createFolder();
  const file = openFile(directory, 16 * 1024);
  for (let count = 0; count < 60; count += 1) file.append(1, Buffer.alloc(150, `${count % 10}`));
  await file.close();
  const [, second] = await listSegments(directory, RUN);
  writeFileSync(second?.path ?? "", randomBytes(100));
  const { records, skipped } = await readAll(directory);
  expect(records.at(-1)?.kind).toBe(4);
  expect(skipped).toBeGreaterThan(0);
  appendFileSync((await listSegments(directory, RUN)).at(-1)?.path ?? "", "half a rec");
  expect((await readAll(directory)).records).toHaveLength(records.length);
});

test("a directory that others can read is refused", async () => {
  const directory = createFolder();
  await openOutputDirectory(directory);
  chmodSync(directory, 0o750);
  await expect(openOutputDirectory(directory)).rejects.toThrow(
    /must be a directory of this user, with mode 0700.*0750/,
  );
});

test("a link is refused: it may lead into a directory of others' choice", async () => {
  const directory = createFolder();
  const target = createFolder();
  await openOutputDirectory(target);
  symlinkSync(target, directory);
  await expect(openOutputDirectory(directory)).rejects.toThrow("must be a directory of this user");
});

test("old runs go, and the oldest if all are too large; other files stay", async () => {
  const directory = createFolder();
  await openOutputDirectory(directory);
  const now = Date.now();
  const put = (name: string, age: number) => {
    writeFileSync(join(directory, name), "x".repeat(100));
    utimesSync(join(directory, name), (now - age) / 1000, (now - age) / 1000);
  };
  put("aaaaaaaaaaaaaaaa.0", 90_000);
  put("bbbbbbbbbbbbbbbb.0", 50_000);
  put("cccccccccccccccc.0", 40_000);
  put("cccccccccccccccc.100", 1_000);
  put("notes.txt", 90_000);
  await pruneOutput(directory, { age: 60_000, now, most: 2 * (100 + FILE_BYTES) });
  expect(readdirSync(directory).sort()).toEqual(["cccccccccccccccc.0", "cccccccccccccccc.100", "notes.txt"]);
});

test("a run that was silent for long loses its old output, and keeps its new one", async () => {
  const directory = createFolder();
  const file = openFile(directory, 64 * 1024);
  file.append(1, Buffer.from("old\n"));
  await expect.poll(async () => (await readAll(directory)).records).toHaveLength(1);
  await pruneOutput(directory, { age: 60_000, now: Date.now() + 120_000 });
  file.append(1, Buffer.from("new\n"));
  await file.close();
  const { records } = await readAll(directory);
  expect(joinData(records).toString()).toBe("new\n");
  expect(records.at(-1)?.kind).toBe(4);
});

test("what the disk needs for a file counts: runs with little output do not fill it", async () => {
  const directory = createFolder();
  await openOutputDirectory(directory);
  for (let n = 10; n < 60; n += 1) writeFileSync(join(directory, `aaaaaaaaaaaaaa${n}.0`), "x");
  await pruneOutput(directory, { age: 60_000, now: Date.now(), most: 10 * (1 + FILE_BYTES) });
  expect(readdirSync(directory)).toHaveLength(10);
});

test("the newest output stays after the host's clock was set back", async () => {
  const directory = createFolder();
  await openOutputDirectory(directory);
  const now = Date.now();
  const put = (name: string, at: number) => {
    writeFileSync(join(directory, name), "x");
    utimesSync(join(directory, name), at / 1000, at / 1000);
  };
  put("aaaaaaaaaaaaaaaa.0", now + 3_600_000);
  put("bbbbbbbbbbbbbbbb.0", now - 1_000);
  await pruneOutput(directory, { age: 60_000, now, most: 1 + FILE_BYTES });
  expect(readdirSync(directory)).toEqual(["bbbbbbbbbbbbbbbb.0"]);
});

test("a run without output has no files", async () => {
  const directory = createFolder();
  const storage = { directory, size: 65_536, age: 60_000, masks: [] };
  const keeper = new OutputKeeper(clock, { ...storage, run: RUN, onFault: () => {} });
  expect(keeper.renderTail()).toBeUndefined();
  await keeper.close();
  expect(await listSegments(directory, RUN)).toEqual([]);
});

test("the tail has at most 4 KiB, begins between characters and has no escape sequences", () => {
  const tail = new OutputTail();
  tail.take(Buffer.from("é".repeat(10_000)));
  tail.take(Buffer.from("\n\x1b[31mred\x1b[0m\r\n\x07end\n\n"));
  const text = tail.render() ?? "";
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  expect(text).toMatch(/^é+\nred\nend$/);
});

test("without output there is no tail", () => {
  const tail = new OutputTail();
  tail.take(Buffer.from("\n\r\n \x1b[0m"));
  expect(tail.render()).toBeUndefined();
});
