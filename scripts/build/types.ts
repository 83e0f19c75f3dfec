// The library's types: declarations of the files that its own refer to, and of no others.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The entry of the library, below the folder of its declarations. */
export const ENTRY = "library/index.d.ts";

/** Writes dist/types. @returns how many files. @throws Error with what the compiler says */
export function writeTypes(root: string): number {
  const all = join(root, `dist/types-all.${process.pid}`);
  const draft = join(root, `dist/types.${process.pid}`);
  const old = join(root, `dist/types-old.${process.pid}`);
  const types = join(root, "dist/types");
  try {
    emitDeclarations(root, all);
    const files = findReachable(join(all, ENTRY));
    for (const file of files) {
      const to = join(draft, relative(all, file));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(file, to);
    }
    swap(types, draft, old);
    return files.size;
  } finally {
    for (const folder of [all, draft, old]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the declarations of all files that the library imports. @throws Error with what the compiler says */
export function emitDeclarations(root: string, outDir: string): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const from = ["--rootDir", "src", "--outDir", outDir];
  const how = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--stripInternal"];
  const args = [tsc, "-p", "scripts/build/tsconfig.types.json", ...from, ...how];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (existsSync(join(outDir, ENTRY))) return; // what is mistyped is for `npm run check`
  throw new Error(`the types of the library cannot be made:\n${stdout}${stderr}`);
}

function findReachable(entry: string): Set<string> {
  const seen = new Set([entry]);
  for (const file of seen) {
    const imports = readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
    for (const [, path = ""] of imports) seen.add(join(dirname(file), path.replace(/\.ts$/, ".d.ts")));
  }
  return seen;
}

/** Somebody may be reading them at this moment: they are away for no longer than a rename takes. */
function swap(types: string, draft: string, old: string): void {
  try {
    renameSync(types, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  renameSync(draft, types);
}
