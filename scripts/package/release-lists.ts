/** What accompanies the packages: checksums, and a list of the software in them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";

const SUMS = "SHA256SUMS";

/**
 * Writes a CycloneDX SBOM. Development dependencies are part of it: the bundles contain some of them, and Node.js is one.
 * @param time  s since 1970
 * @returns its name
 */
export async function writeSbom(
  root: string,
  folder: string,
  version: string,
  time: number,
): Promise<string> {
  const { stdout } = await $({ cwd: root })`npm sbom --package-lock-only --sbom-format cyclonedx`;
  const { serialNumber: _random, ...sbom } = JSON.parse(stdout);
  sbom.metadata.component.name = "signalbox"; // npm takes the name of the folder
  sbom.metadata.timestamp = new Date(time * 1_000).toISOString();
  const name = `signalbox-${version}.cdx.json`;
  writeFileSync(join(folder, name), `${JSON.stringify(sbom, null, 2)}\n`);
  return name;
}

/** Writes the checksums of all files in a folder, as `sha256sum --check` reads them. @returns the name of the file */
export function writeChecksums(folder: string): string {
  const names = readdirSync(folder).filter((name) => name !== SUMS);
  const lines = names.sort().map((name) => `${computeSum(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, SUMS), lines.join(""));
  return SUMS;
}

function computeSum(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
