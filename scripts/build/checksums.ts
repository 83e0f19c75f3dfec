import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Computes the SHA-256 of a file, in hexadecimal digits. */
export function computeChecksum(path: string): string {
  return hash("sha256", readFileSync(path));
}

/** Formats the checksums of files in a folder as `sha256sum --check` reads them. */
export function formatChecksums(folder: string, names: readonly string[]): string {
  return names.map((name) => `${computeChecksum(join(folder, name))}  ${name}\n`).join("");
}
