/** In the core, a reading of one clock cannot be replaced by one of the other: the program does not compile. */
import { copyFileSync, cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { runTool } from "../../fixtures/run-tool.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const READING = /\.(?:now|getWallTime)\(\)/g;
const swap = (reading: string) => (reading === ".now()" ? ".getWallTime()" : ".now()");

/** Lists the mutants of a source: one for each reading, which is swapped, and one in which all are. */
function listMutants(source: string) {
  const readings = [...source.matchAll(READING)];
  if (readings.length === 0) return [];
  const single = readings.map(({ 0: reading, index }) => ({
    place: `line ${source.slice(0, index).split("\n").length}`,
    text: source.slice(0, index) + swap(reading) + source.slice(index + reading.length),
  }));
  return [...single, { place: "all", text: source.replace(READING, swap) }];
}

/** Copies the core, and writes the mutants of each source beside it. @returns their places by file */
function writeMutants(root: string) {
  cpSync(join(PROJECT, "src/core"), join(root, "src/core"), { recursive: true });
  copyFileSync(join(PROJECT, "package.json"), join(root, "package.json"));
  symlinkSync(join(PROJECT, "node_modules"), join(root, "node_modules"));
  const { compilerOptions } = JSON.parse(readFileSync(join(PROJECT, "tsconfig.json"), "utf8"));
  writeFileSync(join(root, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  const places = new Map<string, string>();
  for (const file of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const mutants = listMutants(readFileSync(join(root, "src", file), "utf8"));
    for (const [at, { place, text }] of mutants.entries()) {
      const path = `src/${file.replace(/\.ts$/, `.swapped-${at}.ts`)}`;
      writeFileSync(join(root, path), text);
      places.set(path, `${file}: ${place}`);
    }
  }
  return places;
}

test("a program in which a reading of a clock is swapped does not compile", {
  timeout: 120_000,
}, async () => {
  const root = createTestFolder();
  const places = writeMutants(root);
  const tsc = runTool({ cwd: root, nothrow: true });
  const { stdout } = await tsc`node_modules/.bin/tsc -p . --pretty false`;
  const refused = new Set([...stdout.matchAll(/^(src\/[^(]+)\(/gm)].map(([, path = ""]) => path));
  const compiled = [...places].filter(([path]) => !refused.has(path));
  expect(compiled.map(([, place]) => place)).toEqual([]);
  expect(
    [...refused].filter((path) => !places.has(path)),
    "sources without a change",
  ).toEqual([]);
  const inHorizon = [...places.keys()].filter((path) => path.startsWith("src/core/etcd/session/horizon."));
  expect(inHorizon.length).toBeGreaterThan(5);
});
