import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { NoteSeal } from "../../src/agent/note-seal.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = createTestFolder();
  path = join(folder, "agent.key");
});

function makePipe(at: string) {
  rmSync(at);
  execFileSync("mkfifo", ["-m", "600", at]);
}

const NOTE = '{"run":"a b"}';

describe("a sealed note", () => {
  test("is read by a later agent with the same key", () => {
    const sealed = NoteSeal.open(path).seal(NOTE, 7);
    expect(NoteSeal.open(path).unseal(sealed, 7)).toBe(NOTE);
  });

  test.each<[string, (sealed: string) => string | undefined, number]>([
    ["is not that of another user", (sealed) => sealed, 8],
    ["cannot be changed", (sealed) => sealed.replace("a b", "a c"), 7],
    ["cannot have another seal", (sealed) => `${"0".repeat(64)}${sealed.slice(64)}`, 7],
    ["needs its seal", (sealed) => sealed.slice(65), 7],
    ["needs the whole seal", (sealed) => sealed.slice(2), 7],
    ["must be there", () => undefined, 7],
    ["is not an empty text", () => "", 7],
  ])("%s", (_, change, uid) => {
    const seal = NoteSeal.open(path);
    expect(seal.unseal(change(seal.seal(NOTE, 7)), uid)).toBeUndefined();
  });

  test("is read by a later agent if the key was removed and written again", () => {
    const seal = NoteSeal.open(path);
    rmSync(path);
    seal.restore();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(NoteSeal.open(path).unseal(seal.seal(NOTE, 7), 7)).toBe(NOTE);
  });

  test("is not read with another key", () => {
    const sealed = NoteSeal.open(path).seal(NOTE, 7);
    rmSync(path);
    expect(NoteSeal.open(path).unseal(sealed, 7)).toBeUndefined();
  });
});

describe("the key", () => {
  test("can be read by its user only", () => {
    NoteSeal.open(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each<[string, () => void, string]>([
    ["that others can read is refused", () => chmodSync(path, 0o644), "mode 0600"],
    ["of another length is refused", () => writeFileSync(path, "short"), "5 bytes instead of 32"],
    ["that is a pipe is refused", () => makePipe(path), "0 bytes instead of 32"],
  ])("%s", (_, spoil, message) => {
    NoteSeal.open(path);
    spoil();
    expect(() => NoteSeal.open(path)).toThrow(message);
  });

  test("that cannot be written is an error of the configuration that names the file", () => {
    expect(() => NoteSeal.open(join(folder, "missing/agent.key"))).toThrow("missing/agent.key");
  });
});
