/** Exports are written as a whole or not at all, and replace nothing without a question. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeExport } from "../../../src/console/overlays/write-export.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-export-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

it("writes a file that only the user can read, and leaves nothing else", async () => {
  expect(await writeExport(join(folder, "a.csv"), "x\n", false)).toEqual({ kind: "written" });
  expect(readFileSync(join(folder, "a.csv"), "utf8")).toBe("x\n");
  expect(statSync(join(folder, "a.csv")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["a.csv"]);
});

it("replaces a file only when told to", async () => {
  writeFileSync(join(folder, "a.csv"), "old");
  expect(await writeExport(join(folder, "a.csv"), "new", false)).toEqual({ kind: "exists" });
  expect(readFileSync(join(folder, "a.csv"), "utf8")).toBe("old");
  expect(await writeExport(join(folder, "a.csv"), "new", true)).toEqual({ kind: "written" });
  expect(readFileSync(join(folder, "a.csv"), "utf8")).toBe("new");
  expect(readdirSync(folder)).toEqual(["a.csv"]);
});

it("lets one of two writers win, and the other one know", async () => {
  const results = await Promise.all(
    ["a", "b"].map((text) => writeExport(join(folder, "same.txt"), text, false)),
  );
  expect(results.map(({ kind }) => kind).sort()).toEqual(["exists", "written"]);
  expect(readdirSync(folder)).toEqual(["same.txt"]);
});

it.each([
  ["a folder", () => folder, /exists and is not a file/],
  ["a device", () => "/dev/full", /"\/dev\/full" exists and is not a file/],
  [
    "a link",
    () => {
      symlinkSync("/etc/passwd", join(folder, "l"));
      return join(folder, "l");
    },
    /exists and is not a file/,
  ],
  [
    "a folder that does not exist",
    () => join(folder, "none", "a"),
    /the folder does not exist; nothing was written/,
  ],
  [
    "a path through a file",
    () => {
      writeFileSync(join(folder, "f"), "");
      return join(folder, "f", "a");
    },
    /a part of the path is not a folder; nothing was written/,
  ],
  ["a name that is too long", () => join(folder, "x".repeat(300)), /the name is too long/],
  [
    "a folder of the kernel",
    () => "/proc/signalbox",
    /cannot write "\/proc\/signalbox": .*nothing was written/,
  ],
])("refuses %s, and says why", async (_what, prepare, fault) => {
  const path = prepare();
  for (const mayReplace of [false, true]) {
    const result = await writeExport(path, "x", mayReplace);
    expect(result).toEqual({ kind: "fault", text: expect.stringMatching(fault) });
  }
});

it.skipIf(process.getuid?.() === 0)("refuses a folder without permission", async () => {
  mkdirSync(join(folder, "closed"), { mode: 0o500 });
  const result = await writeExport(join(folder, "closed", "a"), "x", false);
  expect(result).toEqual({ kind: "fault", text: expect.stringContaining("you may not write there") });
});
