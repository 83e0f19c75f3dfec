/** The package for npm, and the formula for Homebrew that installs it. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { $ } from "zx";
import { computeChecksum } from "../build/checksums.ts";

/**
 * Packs a copy of the published files that has the native programs of these processors only: earlier builds leave those of
 * others in dist/.
 * @param architectures  Node's names of the processors
 * @returns the name of the package
 */
export async function writeNpmPackage(
  root: string,
  folder: string,
  architectures: readonly string[],
): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), "signalbox-npm-"));
  try {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const natives = join(root, "dist/native");
    const included = manifest.files.filter((name: string) => !name.startsWith("!")); // npm leaves out the others
    for (const name of included)
      cpSync(join(root, name), join(copy, name), {
        recursive: true,
        filter: (path) => dirname(path) !== natives || architectures.includes(basename(path)),
      });
    const homepage = process.env.HOMEPAGE || undefined;
    const man = readdirSync(join(root, "dist/man")).map((page) => `dist/man/${page}`);
    const published = { ...manifest, man, cpu: architectures, homepage };
    writeFileSync(join(copy, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
    const options = ["--silent", "--ignore-scripts", "--pack-destination", folder]; // what `prepack` builds has been built
    const { stdout } = await $({ cwd: copy })`npm pack ${options}`;
    return stdout.trim();
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @param name  of the npm package in the folder. @returns the name of the formula */
export function writeFormula(folder: string, version: string, name: string): string {
  const fields: Record<string, string> = {
    HOMEPAGE: process.env.HOMEPAGE || "https://example.invalid",
    VERSION: version,
    PACKAGE: name,
    SHA256: computeChecksum(join(folder, name)),
  };
  const text = readFileSync(join(import.meta.dirname, "homebrew.rb"), "utf8");
  const filled = text.replace(/@([A-Z0-9]+)@/g, (_, field) => fields[field] ?? "");
  writeFileSync(join(folder, "signalbox.rb"), filled);
  return "signalbox.rb";
}
