/** The package as programs get it: what it exports is there, and its types stand alone. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import * as source from "../../src/library/index.ts";

const ROOT = resolve(import.meta.dirname, "../..");

test("the built package exports what the source does", async () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { require, ...paths } = exports["."];
  for (const path of Object.values({ ...require, ...paths, require: require.types }))
    expect(existsSync(join(ROOT, String(path)))).toBe(true);
  const built = await import(join(ROOT, exports["."].default));
  expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
});

test("says which Node.js it needs", () => {
  const program = "import(process.argv[1]).catch((error) => console.log(error.message))";
  const old = ["--import", "data:text/javascript,delete Promise.withResolvers", "-e", program];
  const args = [...old, join(ROOT, "dist/library.mjs")];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stdout).toMatch(/^signalbox needs Node\.js 22 or later; this is Node\.js \d+/);
});

test("every error is documented with its code", async () => {
  const doc = readFileSync(join(ROOT, "docs/library.md"), "utf8");
  const names = Object.keys(source).filter((name) => name.endsWith("Error") && name !== "SignalboxError");
  const rows = [...doc.matchAll(/^\| `(\w+Error)` \| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual(names.sort());
});

/** Installs what the package has of types, alone: a link to the project would also bring the packages that it is built with. */
function installTypes(folder: string) {
  const installed = join(folder, "node_modules/signalbox");
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(installed, "package.json"));
  cpSync(join(ROOT, "dist/types"), join(installed, "dist/types"), { recursive: true });
}

test.each([
  ["nodenext", "mts"],
  ["nodenext", "cts"],
  ["node16", "mts"],
  ["node16", "cts"],
  ["preserve", "ts"],
])(
  "the types compile in a program of its own with %s, %s, strictly, and refuse what is wrong",
  (module, ending) => {
    const folder = createTestFolder();
    installTypes(folder);
    const program = readFileSync(join(import.meta.dirname, "fixture-types.ts"), "utf8");
    writeFileSync(
      join(folder, `program.${ending}`),
      program.replace("../../src/library/index.ts", "signalbox"),
    );
    const compilerOptions = {
      module,
      target: "es2024",
      lib: ["es2024", "esnext.disposable", "dom"],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: [],
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: [`program.${ending}`] }),
    );
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
  },
);
