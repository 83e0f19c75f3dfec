/** The built program: it starts faster with V8's cached code, and also works without it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { startEtcdStub } from "../../scripts/build/etcd-stub.ts";

/** The bundles with cached code, each with a command line that the bundle itself (not the starter) refuses. */
const BUNDLES = [
  ["run", ["run", "--ttl", "soon", "--", "true"], { status: 64, stderr: expect.stringContaining("--ttl") }],
  ["front", ["golock"], { status: 201, stderr: expect.stringContaining("no command was given") }],
] as const;

let folder: string;
beforeEach(() => {
  folder = createTestFolder();
  cpSync(dirname(BUNDLE), folder, { recursive: true });
});

describe.each(BUNDLES)("%s", (bundle, words, refusal) => {
  const codes = () =>
    readdirSync(folder).filter((one) => one.startsWith(`${bundle}-`) && one.endsWith(".code"));
  const code = () => join(folder, codes()[0] ?? "none");

  function started() {
    const args = [join(folder, "signalbox.cjs"), ...words];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return { status, stderr };
  }

  it("has code made of the very bundle that it comes with", () => {
    const title = readFileSync(join(folder, `${bundle}.cjs`), "latin1")
      .split("\n")[0]
      ?.slice(2);
    expect(codes()).toEqual([`${title}-${process.version}-${process.arch}.code`]);
    expect(started()).toMatchObject(refusal);
  });

  it.each<[what: string, spoil: (code: string) => void]>([
    ["is missing", (path) => rmSync(path)],
    ["is empty", (path) => writeFileSync(path, "")],
    ["is something else", (path) => writeFileSync(path, "x".repeat(300_000))],
    ["was cut", (path) => writeFileSync(path, readFileSync(path).subarray(0, 100_000))],
    ["was made by another version of V8", (path) => writeFileSync(path, otherVersion(readFileSync(path)))],
  ])("runs where the code %s", (_what, spoil) => {
    spoil(code());
    expect(started()).toMatchObject(refusal);
  });
});

it("run loads no package: each would cost every start", () => {
  const bundle = readFileSync(join(folder, "run.cjs"), "utf8");
  expect(bundle).toContain("// src/bin/run.ts");
  expect(bundle).not.toContain("// node_modules/");
});

it("a run loads no cryptography of Node: it takes a fifth of a start", async () => {
  const { endpoint, server } = await startEtcdStub();
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const spy = join(folder, "spy.cjs");
  writeFileSync(spy, 'process.on("exit", () => console.error(process.moduleLoadList.join(" ")));');
  const args = ["--require", spy, join(folder, "signalbox.cjs"), "run", "--lock", "x", "--", "true"];
  const env = {
    PATH: process.env.PATH,
    SIGNALBOX_ENDPOINTS: endpoint,
    SIGNALBOX_AGENT: "never",
    HOME: folder,
  };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  expect(await once(child, "close")).toEqual([0, null]);
  expect(stderr).toContain("NativeModule child_process");
  expect(stderr).not.toContain("NativeModule crypto");
});

/** With another hash of the version, which is the second word of its head. */
function otherVersion(bytes: Buffer) {
  bytes.writeUInt32LE((bytes.readUInt32LE(4) ^ 1) >>> 0, 4);
  return bytes;
}
