import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The sources of the build. */
const SOURCES = ["src", "scripts/maintenance", "scripts/build", "scripts/build.ts", "package.json"];

/** Whether the output folder exists, and cannot be written: on a read-only file system, or in a checkout of another user. */
export function isReadOnly(dist: string): boolean {
  try {
    accessSync(dist, constants.W_OK);
    return false;
  } catch {
    return existsSync(dist);
  }
}

/**
 * Finds a source that was changed after the last build.
 * @param root     the checkout
 * @param product  path of the last file that a build writes
 * @returns its path; undefined if the build is up to date
 */
export function findNewerSource(root: string, product: string): string | undefined {
  if (!existsSync(product)) return product;
  const built = statSync(product).mtimeMs;
  const files = SOURCES.map((source) => join(root, source)).flatMap(listFiles);
  return files.find((file) => statSync(file).mtimeMs > built);
}

function listFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
