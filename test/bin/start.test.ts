/** The program as it is shipped: the code that V8 made of it when it was built is a help, never a need. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { BUNDLE } from "../../fixtures/signalbox.ts";

let folder: string;
let code: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-start-"));
  cpSync(dirname(BUNDLE), folder, { recursive: true });
  const [name = "none"] = readdirSync(folder).filter((one) => one.endsWith(".code"));
  code = join(folder, name);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a run answers whose configuration is wrong: that is told by the bundle, not by what starts it. */
function started() {
  const args = [join(folder, "signalbox.cjs"), "run", "--ttl", "soon", "--", "true"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stderr };
}
const REFUSAL = { status: 64, stderr: expect.stringContaining("--ttl") };

it("has code made of the very bundle that it comes with", () => {
  const title = readFileSync(join(folder, "run.cjs"), "latin1").split("\n")[0]?.slice(2);
  const made = readdirSync(folder).filter((one) => one.endsWith(".code"));
  expect(made).toEqual([`${title}-${process.version}-${process.arch}.code`]);
  expect(started()).toMatchObject(REFUSAL);
});

it.each<[what: string, spoil: () => void]>([
  ["is missing", () => rmSync(code)],
  ["is empty", () => writeFileSync(code, "")],
  ["is something else", () => writeFileSync(code, "x".repeat(300_000))],
  ["was cut", () => writeFileSync(code, readFileSync(code).subarray(0, 100_000))],
  ["was made by another version of V8", () => writeFileSync(code, otherVersion(readFileSync(code)))],
])("runs where the code %s", (_what, spoil) => {
  spoil();
  expect(started()).toMatchObject(REFUSAL);
});

/** With another hash of the version, which is the second word of its head. */
function otherVersion(bytes: Buffer): Buffer {
  bytes.writeUInt32LE((bytes.readUInt32LE(4) ^ 1) >>> 0, 4);
  return bytes;
}
