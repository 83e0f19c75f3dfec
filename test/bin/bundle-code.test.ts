/** A Node for which no code of V8 is shipped: the first run that starts a command keeps it for the next ones. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { startEtcdStub } from "../../scripts/build/etcd-stub.ts";

const NOBODY = 65_534;
const WORDS = ["run", "--lock", "x", "--"];

let program: string;
let spy: string;
let endpoint: string;
let home: string;
beforeAll(async () => {
  program = createTestFolder(afterAll);
  cpSync(dirname(BUNDLE), program, { recursive: true });
  for (const name of readdirSync(program)) if (name.endsWith(".code")) rmSync(join(program, name));
  spy = join(program, "spy.cjs");
  writeFileSync(
    spy,
    `const vm = require("node:vm");
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    console.error(!options.cachedData ? "no code" : this.cachedDataRejected ? "rejected" : "used");
  }
};`,
  );
  const stub = await startEtcdStub();
  endpoint = stub.endpoint;
  afterAll(() => {
    stub.server.closeAllConnections();
    stub.server.close();
  });
});
beforeEach(() => {
  home = createTestFolder();
});

/** @returns the exit code, and whether kept code was used */
async function start(words: readonly string[], env: NodeJS.ProcessEnv = { HOME: home }) {
  const args = ["--require", spy, join(program, "signalbox.cjs"), ...words];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, SIGNALBOX_ENDPOINTS: endpoint, SIGNALBOX_AGENT: "never", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stderr };
}

const run = () => start([...WORDS, "true"]);
const FRESH = { code: 0, stderr: "no code\n" };
const USED = { code: 0, stderr: "used\n" };

const folder = () => join(home, ".cache/signalbox");
const listKept = () => readdirSync(folder());
const kept = () => join(folder(), listKept()[0] ?? "none");

it("is kept for this user alone, whole, and used by the next run", async () => {
  expect(await run()).toEqual(FRESH);
  const title = readFileSync(join(program, "run.cjs"), "latin1").split("\n")[0]?.slice(2);
  expect(listKept()).toEqual([`${title}-${process.version}-${process.arch}.code`]);
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  expect(statSync(kept()).mode & 0o777).toBe(0o600);
  const shipped = readdirSync(dirname(BUNDLE)).find((name) => name === listKept()[0]) ?? "none";
  const ratio = statSync(kept()).size / statSync(join(dirname(BUNDLE), shipped)).size;
  expect(ratio).toBeGreaterThan(0.9);
  expect(await run()).toEqual(USED);
});

it("replaces what other versions have left: files, what was half written, and links, but not what these name", async () => {
  const code = join(home, "code");
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const old = Array.from({ length: 12 }, (_, n) => `run-${String(n).padStart(16, "0")}-v22.14.${n}-x64.code`);
  for (const [age, name] of [...old, `${old[0]}.4711`].entries()) {
    writeFileSync(join(folder(), name), "x");
    utimesSync(join(folder(), name), 1_000 - age, 1_000 - age);
  }
  renameSync(join(folder(), old[11] as string), code);
  symlinkSync(code, join(folder(), old[11] as string));
  lutimesSync(join(folder(), old[11] as string), 1, 1);
  mkdirSync(join(folder(), "mine-v22.code"));
  const reader = openSync(join(folder(), old[10] as string), "r");
  expect(await run()).toEqual(FRESH);
  const left = ["mine-v22.code", ...old.slice(0, 7), expect.stringContaining(process.version)];
  expect(listKept()).toEqual(left);
  expect(readFileSync(code, "utf8") + readFileSync(reader, "utf8")).toBe("xx");
  closeSync(reader);
  expect(await run()).toEqual(USED);
});

it("is not kept by a call that has started no command, or whose command has failed", async () => {
  expect(await start(["run", "--help"])).toEqual(FRESH);
  expect(await start([...WORDS, "false"])).toEqual({ ...FRESH, code: 1 });
  expect(listKept()).toEqual([]);
});

it.each<[what: string, spoil: (file: string) => void, stderr: string]>([
  ["is empty", (file) => writeFileSync(file, ""), "rejected\n"],
  ["is something else", (file) => writeFileSync(file, "x".repeat(300_000)), "rejected\n"],
  ["was cut", (file) => writeFileSync(file, readFileSync(file).subarray(0, 100_000)), "rejected\n"],
  ["can be written by others", (file) => chmodSync(file, 0o622), "no code\n"],
  [
    "is a link",
    (file) => {
      renameSync(file, join(home, "code"));
      symlinkSync(join(home, "code"), file);
    },
    "no code\n",
  ],
  [
    "is a pipe",
    (file) => {
      rmSync(file);
      execFileSync("mkfifo", [file]);
    },
    "no code\n",
  ],
])("is made again where the file %s", async (_what, spoil, stderr) => {
  await run();
  spoil(kept());
  expect(await run()).toEqual({ code: 0, stderr });
  expect(await run()).toEqual(USED);
  const source = readFileSync(join(program, "run.cjs"), "latin1");
  expect(new Script(source, { cachedData: readFileSync(kept()) }).cachedDataRejected).toBe(false);
});

it.runIf(process.getuid?.() === 0)("is made again where the file belongs to another user", async () => {
  await run();
  chownSync(kept(), NOBODY, NOBODY);
  expect(await run()).toEqual(FRESH);
  expect(await run()).toEqual(USED);
});

it("is not made where a folder is in its place: the run ends as its command does", async () => {
  await run();
  const name = kept();
  rmSync(name);
  mkdirSync(join(name, "x"), { recursive: true });
  expect(await run()).toEqual(FRESH);
  expect(listKept()).toHaveLength(1); // no draft is left
});

it.each([{ HOME: "/proc" }, {}])("is not kept with %o, and the run ends as its command does", async (env) => {
  expect(await start([...WORDS, "true"], env)).toEqual(FRESH);
});

it("is kept by one of several first runs at once", async () => {
  await Promise.all([run(), run(), run()]);
  expect(listKept()).toHaveLength(1);
  expect(await run()).toEqual(USED);
});
