/**
 * Finds the sources with logic of their own whose test cannot be found by name, and fails if there is one (part of
 * `npm run check`). A source has logic if it exports a function or class of more than ten lines that branches or loops. Its
 * test has the same path (`src/a/b.ts`: `test/a/b.test.ts`), or a test names it at its head: `// Covers src/a/b.ts`.
 */
import { existsSync, readFileSync } from "node:fs";
import { glob } from "zx";
import { listCovered } from "./names/covers.ts";
import { hasLogic } from "./names/logic.ts";

const coveredBy = new Map<string, string[]>();
for (const test of (await glob(["test/**/*.test.{ts,tsx}"])).toSorted())
  for (const source of listCovered(readFileSync(test, "utf8")))
    coveredBy.set(source, [...(coveredBy.get(source) ?? []), test]);

const sources = (await glob(["src/**/*.{ts,tsx}"])).toSorted();
const withLogic = sources.filter((path) => hasLogic(readFileSync(path, "utf8"), path.endsWith("x")));
const untested = withLogic.filter((path) => !coveredBy.has(path) && !hasTestOfSameName(path));
const missing = [...coveredBy].filter(([source]) => !existsSync(source));

for (const path of untested) console.log(`${path}: no test has its path or names it (// Covers ${path})`);
for (const [source, tests] of missing)
  console.log(`${tests.join(", ")}: covers ${source}, which does not exist`);
console.log(
  `${withLogic.length} of ${sources.length} sources have logic; ${untested.length} have no test that can be found by name`,
);
if (untested.length + missing.length > 0) process.exitCode = 1;

function hasTestOfSameName(path: string): boolean {
  const stem = path.replace(/^src\//, "test/").replace(/(\.impl)?\.tsx?$/, "");
  return [".test.ts", ".test.tsx", ".long.test.ts"].some((ending) => existsSync(`${stem}${ending}`));
}
