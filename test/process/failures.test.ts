import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { createGuardianHost } from "../../src/process/host.ts";
import { locateNative } from "../../src/process/native/locate.ts";
import { clock, createMark, createOutput, prepareGuarded } from "./helpers.ts";

let folder = "";
const writeTestFile = (name: string, text: string, mode: number) => {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-failures-"));
  writeTestFile("plain", "text", 0o644);
  writeTestFile("orphan", "#!/no/such/interpreter\n", 0o755);
  writeTestFile("bare", "exit 9\n", 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["no-such-command", 127, "ENOENT"],
  ["/no/such/path", 127, "ENOENT"],
  ["orphan", 127, "ENOENT"],
  ["plain", 126, "EACCES"],
  [".", 126, "is a directory"],
])("%s cannot be run: %i", async (name, exitCode, reason) => {
  const path = name.startsWith("no-such") || name.startsWith("/") ? name : join(folder, name);
  const it = await prepareGuarded(createMark(), [path]);
  await expect(it.start({})).rejects.toMatchObject({ exitCode, message: expect.stringContaining(reason) });
  await it.gone;
  await it.release();
});

test("a script without an interpreter line runs by sh, as under env, nohup and timeout", async () => {
  const it = await prepareGuarded(createMark(), ["bare"], { PATH: `${folder}:/usr/bin:/bin` });
  await it.start({});
  expect(await it.exited).toMatchObject({ code: 9 });
  await it.release();
});

test("the command is looked up in its own PATH, additions included", async () => {
  const it = await prepareGuarded(createMark(), ["bare"], { PATH: "/nowhere" });
  await it.start({ PATH: `${folder}:/bin` });
  expect(await it.exited).toMatchObject({ code: 9 });
  await it.release();
});

test("arguments that do not fit are the command's fault", async () => {
  const tooLong = await prepareGuarded(createMark(), ["true", "x".repeat(200_000)]);
  await expect(tooLong.start({})).rejects.toMatchObject({
    exitCode: 126,
    message: expect.stringContaining("E2BIG"),
  });
  await tooLong.release();
  await expect(prepareGuarded(createMark(), ["true", "a\0b"])).rejects.toMatchObject({ exitCode: 126 });
});

test("a command line as long as the system takes is run, every byte of it", async () => {
  const words = Array.from({ length: 15 }, (_, at) => String.fromCharCode(97 + at).repeat(100_000));
  const out = createOutput();
  const count = 'printf "%s" "$#-$*" | cksum >>$OUT';
  const it = await prepareGuarded(createMark(), ["sh", "-c", count, "sh", ...words, ""], { OUT: out.path });
  await it.start({});
  expect(await it.exited).toMatchObject({ code: 0 });
  await it.release();
  const wanted = spawnSync("cksum", { input: `16-${[...words, ""].join(" ")}`, encoding: "utf8" }).stdout;
  expect(out.lines()).toEqual([wanted.trim()]);
});

test("a command line that holds more than any system takes is the command's fault", async () => {
  const it = await prepareGuarded(createMark(), [
    "true",
    ...Array.from({ length: 200 }, () => "x".repeat(100_000)),
  ]);
  await expect(it.start({})).rejects.toMatchObject({ exitCode: 126 });
  await it.release();
});

test("additions that are no environment start nothing, and the guardian can still be released", async () => {
  const it = await prepareGuarded(createMark(), ["true"]);
  await expect(it.start({ NAME: "a\0b" })).rejects.toThrow(RangeError);
  await it.release();
});

test("without a guardian nothing is run, and the remedy is named", async () => {
  expect(() => locateNative("guardian", folder)).toThrow(/npm run build/);
  const spec = { file: "true", args: [], env: process.env };
  for (const guardian of [
    join(folder, "nothing"),
    join(folder, "plain"),
    join(folder, "garbage"),
    "/bin/true",
  ])
    await expect(createGuardianHost(clock, guardian).prepare(spec)).rejects.toHaveProperty("exitCode");
});

test("a guardian of another version is turned away, and ends", async () => {
  const hello = "\\101\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0\\11\\0\\0\\0\\0\\0\\0\\0"; // version 9
  writeTestFile("stale", `#!/bin/sh\nprintf '${hello}' >&3\ncat <&3 >"$OUT"; echo ended >"$OUT"\n`, 0o755);
  const out = createOutput();
  const spec = { file: "true", args: [], env: { ...process.env, OUT: out.path } };
  const stale = createGuardianHost(clock, join(folder, "stale")).prepare(spec);
  await expect(stale).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining("version 9") });
  await waitUntil("its end", () => out.lines().includes("ended"));
});

test("a guardian that cannot guard here is a matter of configuration", async () => {
  writeTestFile("helpless", "#!/bin/sh\nexit 5\n", 0o755);
  const spec = { file: "true", args: [], env: process.env };
  const helpless = createGuardianHost(clock, join(folder, "helpless")).prepare(spec);
  await expect(helpless).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining("/proc") });
});

test("a guardian started by hand says who should", () => {
  const { status, stderr } = spawnSync(locateNative("guardian"), [], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 5, stderr: "signalbox-guard: started by signalbox only\n" });
});
