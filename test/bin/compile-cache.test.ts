/** The code that V8 compiles for the console is kept in the user's folder for caches, if nobody else can write there. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";

const NOBODY = 65_534;

let home: string;
beforeEach(() => {
  home = createTestFolder();
});

/** Loads the console, and shows its help. */
function loadConsole(env: NodeJS.ProcessEnv) {
  const args = [BUNDLE, "console", "--help"];
  const result = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
  expect(result).toMatchObject({
    status: 0,
    stderr: "",
    stdout: expect.stringContaining("signalbox console"),
  });
}

/** The files of code below a folder. */
function findCode(folder: string) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

it("keeps code for this user alone, and uses it", () => {
  loadConsole({ HOME: home });
  const folder = join(home, ".cache/signalbox");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(findCode(home)).toEqual([expect.stringContaining(`${folder}/${process.version}-`)]);
  loadConsole({ HOME: home });
});

it("removes the code of versions of Node that are gone", () => {
  const folder = join(home, ".cache/signalbox");
  for (let n = 0; n < 12; n += 1) {
    const name = join(folder, `v22.14.${n}-x64-0123abcd-0`);
    mkdirSync(join(name, "more"), { recursive: true, mode: 0o700 });
    utimesSync(name, n, n);
  }
  loadConsole({ HOME: home });
  expect(readdirSync(folder)).toHaveLength(8);
  expect(findCode(home)).toEqual([expect.stringContaining(process.version)]);
});

it("keeps code where XDG_CACHE_HOME says, unless that path is relative", () => {
  loadConsole({ HOME: "/nowhere", XDG_CACHE_HOME: home });
  expect(findCode(join(home, "signalbox"))).toHaveLength(1);
  loadConsole({ HOME: home, XDG_CACHE_HOME: "cache" });
  expect(findCode(join(home, ".cache/signalbox"))).toHaveLength(1);
});

it.each<[what: string, spoil: (file: string) => void]>([
  ["empty", (file) => writeFileSync(file, "")],
  ["something else", (file) => writeFileSync(file, "x".repeat(100_000))],
  ["not readable", (file) => chmodSync(file, 0)],
])("starts where the code is %s", (_what, spoil) => {
  loadConsole({ HOME: home });
  for (const file of findCode(home)) spoil(file);
  loadConsole({ HOME: home });
});

it.each<[what: string, prepare: () => NodeJS.ProcessEnv]>([
  [
    "others can write in its folder",
    () => {
      mkdirSync(join(home, ".cache/signalbox"), { recursive: true });
      chmodSync(join(home, ".cache/signalbox"), 0o770);
      return { HOME: home };
    },
  ],
  [
    "a file is in its place",
    () => {
      mkdirSync(join(home, ".cache"));
      writeFileSync(join(home, ".cache/signalbox"), "");
      return { HOME: home };
    },
  ],
  ["the home cannot have folders", () => ({ HOME: "/proc" })],
  ["there is no home", () => ({})],
])("keeps no code where %s", (_what, prepare) => {
  const env = prepare();
  const before = findCode(home);
  loadConsole(env);
  expect(findCode(home)).toEqual(before);
});

it.runIf(process.getuid?.() === 0)("leaves the folders of other users alone, as after sudo", () => {
  chownSync(home, NOBODY, NOBODY);
  loadConsole({ HOME: home });
  expect(readdirSync(home)).not.toContain(".cache");
});
