/** Collects the licences of the npm packages whose code is part of the bundles. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of a package: all of the path up to the name after the last `node_modules/`. */
const PACKAGE_FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENCE_FILE = /^(licen[cs]e|copying)/i;

/** @returns the text of the licences of all packages that have at least one of these files, ordered by folder */
export function collectLicences(root: string, files: Iterable<string>): string {
  const folders = new Set<string>();
  for (const file of files) {
    const [, folder] = PACKAGE_FOLDER.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders]
    .sort()
    .map((folder) => renderLicence(join(root, folder)))
    .join("\n");
}

/** @returns name, version and licence of the package in a folder */
export function renderLicence(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => LICENCE_FILE.test(entry));
  const text = file === undefined ? undefined : readFileSync(join(folder, file), "utf8").trim();
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${text ?? "The package contains no text of its licence."}\n`;
}
