/** The package as programs get it: what it exports is there, and its types stand alone. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import * as source from "../../src/library/index.ts";

const ROOT = resolve(import.meta.dirname, "../..");

test("the built package exports what the source does", async () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const path of Object.values(exports["."])) expect(existsSync(join(ROOT, String(path)))).toBe(true);
  const built = await import(join(ROOT, exports["."].default));
  expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
});

test("every error is documented with its code", async () => {
  const doc = readFileSync(join(ROOT, "docs/library.md"), "utf8");
  const names = Object.keys(source).filter((name) => name.endsWith("Error") && name !== "SignalboxError");
  const rows = [...doc.matchAll(/^\| `(\w+Error)` \| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual(names.sort());
});

test("the types compile in a program of its own, strictly, and refuse what is wrong", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-types-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(ROOT, join(folder, "node_modules/signalbox"));
    const program = readFileSync(join(import.meta.dirname, "fixture-types.ts"), "utf8");
    writeFileSync(join(folder, "program.mts"), program.replace("../../src/library/index.ts", "signalbox"));
    const compilerOptions = {
      ...{ module: "nodenext", target: "es2024", lib: ["es2024", "esnext.disposable", "dom"] },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: [] },
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["program.mts"] }),
    );
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
