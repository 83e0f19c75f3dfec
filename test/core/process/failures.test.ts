import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  clock,
  createMark,
  createOutput,
  prepareGuarded,
} from "../../../fixtures/process/guarded-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createGuardianHost } from "../../../src/core/process/host.ts";
import { locateNative } from "../../../src/core/process/native/locate.ts";

const folder = createTestFolder(afterAll);
/** @returns the path of a program */
function writeProgram(name: string, text: string) {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

test("a script whose interpreter is missing cannot be run: 127", async () => {
  const it = await prepareGuarded(createMark(), [writeProgram("orphan", "#!/no/such/interpreter\n")]);
  const message = expect.stringContaining("ENOENT");
  await expect(it.start({})).rejects.toMatchObject({ exitCode: 127, message });
  await it.gone;
  await it.release();
});

test("the command is looked up in its own PATH, additions included, and runs by sh without an interpreter line", async () => {
  writeProgram("bare", "exit 9\n");
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
  const it = await prepareGuarded(createMark(), ["true", ...Array(200).fill("x".repeat(100_000))]);
  await expect(it.start({})).rejects.toMatchObject({ exitCode: 126 });
  await it.release();
});

test("without a guardian nothing is run, and the remedy is named", async () => {
  expect(() => locateNative("guardian", folder)).toThrow("npm run build");
  const spec = { file: "true", args: [], env: process.env };
  for (const guardian of [join(folder, "nothing"), "/etc/passwd", "/bin/true"])
    await expect(createGuardianHost(clock, guardian).prepare(spec)).rejects.toHaveProperty("exitCode");
});

test("a guardian of another version is turned away, and ends", async () => {
  const hello = "\\101\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0\\11\\0\\0\\0\\0\\0\\0\\0"; // version 9
  const script = `#!/bin/sh\nprintf '${hello}' >&3\ncat <&3 >"$OUT"; echo ended >"$OUT"\n`;
  const out = createOutput();
  const spec = { file: "true", args: [], env: { ...process.env, OUT: out.path } };
  const stale = createGuardianHost(clock, writeProgram("stale", script)).prepare(spec);
  await expect(stale).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining("version 9") });
  await waitUntil("its end", () => out.lines().includes("ended"));
});

test("a guardian that cannot guard here is a matter of configuration", async () => {
  const spec = { file: "true", args: [], env: process.env };
  const helpless = createGuardianHost(clock, writeProgram("helpless", "#!/bin/sh\nexit 5\n")).prepare(spec);
  await expect(helpless).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining("/proc") });
});

test("a guardian started by hand says who should", () => {
  const { status, stderr } = spawnSync(locateNative("guardian"), [], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 5, stderr: "signalbox-guard: started by signalbox only\n" });
});
