import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the products are made of. */
const SOURCES = ["src", "scripts/build", "scripts/build.ts", "package.json"];

/** Whether the folder of the products is there, and cannot be written: a read-only file system, another user's checkout. */
export function isReadOnly(dist: string): boolean {
  try {
    accessSync(dist, constants.W_OK);
    return false;
  } catch {
    return existsSync(dist);
  }
}

/**
 * A source that was changed after the products were built.
 * @param root     the checkout
 * @param product  path of a file that a build writes, the last of them
 * @returns its path, or undefined where the products are up to date
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
