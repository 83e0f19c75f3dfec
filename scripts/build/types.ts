// Builds the types of the library: the declarations of its entry, and of the files that they import.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Path of the library's entry in the folder of declarations. */
export const ENTRY = "library/index.d.ts";

/** Writes dist/types. @returns the number of files. @throws Error with the output of the compiler */
export function writeTypes(root: string): number {
  const all = join(root, `dist/types-all.${process.pid}`);
  const draft = join(root, `dist/types.${process.pid}`);
  const old = join(root, `dist/types-old.${process.pid}`);
  const types = join(root, "dist/types");
  try {
    emitDeclarations(root, all);
    const files = findReachable(join(all, ENTRY));
    refusePackages(files, all);
    for (const file of files) {
      const to = join(draft, relative(all, file));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(file, to);
    }
    writeCommonJsTypes(draft);
    swap(types, draft, old);
    return files.size;
  } finally {
    for (const folder of [all, draft, old]) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Adds a copy for programs in CommonJS: with `"module": "node16"`, TypeScript does not know that Node.js 22.12 and later load ES modules
 * with `require`.
 */
function writeCommonJsTypes(types: string): void {
  const copy = `${types}.commonjs`;
  cpSync(types, copy, { recursive: true });
  writeFileSync(join(copy, "package.json"), '{ "type": "commonjs" }\n');
  renameSync(copy, join(types, "commonjs"));
}

/** Writes the declarations of all files that the library imports. @throws Error with the output of the compiler */
export function emitDeclarations(root: string, outDir: string): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const from = ["--rootDir", "src", "--outDir", outDir];
  const how = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--stripInternal"];
  const args = [tsc, "-p", "scripts/build/tsconfig.types.json", ...from, ...how];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (existsSync(join(outDir, ENTRY))) return; // type errors are reported by `npm run check`
  throw new Error(`cannot build the types of the library:\n${stdout}${stderr}`);
}

function findReachable(entry: string): Set<string> {
  const seen = new Set([entry]);
  for (const file of seen) {
    const imports = readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
    for (const [, path = ""] of imports) seen.add(join(dirname(file), path.replace(/\.ts$/, ".d.ts")));
  }
  return seen;
}

/**
 * The package brings its declarations alone: what they import of another package would be missing where it is installed.
 * @throws Error
 */
function refusePackages(files: ReadonlySet<string>, folder: string): void {
  for (const file of files) {
    const [, name] = /(?:from|import)\s*\(?\s*"([^."][^"]*)"/.exec(readFileSync(file, "utf8")) ?? [];
    if (name !== undefined)
      throw new Error(
        `${relative(folder, file)} imports ${name}: declare what src/library exports in files that do not`,
      );
  }
}

/** Replaces the folder with a rename, because another process may read the types at this moment. */
function swap(types: string, draft: string, old: string): void {
  try {
    renameSync(types, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  renameSync(draft, types);
}
