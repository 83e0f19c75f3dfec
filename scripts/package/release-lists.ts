/** What accompanies the packages: checksums, and a list of the software in them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";
import manifest from "../../package.json" with { type: "json" };
import { listRuntimeModules } from "./npm-modules.ts";

const SUMS = "SHA256SUMS";

interface Component {
  name: string;
  version: string;
  scope?: "required" | "excluded";
  properties?: { name: string; value: string }[];
}

/**
 * Writes a CycloneDX SBOM. Components that packages contain have the scope `required`: what the bundles are made of, what they
 * load, and Node.js. Those that only build and test have `excluded`.
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
  const packaged = listPackaged(root);
  for (const component of sbom.components) setScope(component, packaged);
  sbom.metadata.component.name = "signalbox"; // npm takes the name of the folder
  sbom.metadata.timestamp = new Date(time * 1_000).toISOString();
  const name = `signalbox-${version}.cdx.json`;
  writeFileSync(join(folder, name), `${JSON.stringify(sbom, null, 2)}\n`);
  return name;
}

function setScope(component: Component, packaged: ReadonlySet<string>): void {
  const isPackaged = packaged.has(`${component.name}@${component.version}`);
  component.scope = isPackaged ? "required" : "excluded";
  if (isPackaged) component.properties = []; // npm calls what the bundles are made of a development dependency
}

/** @returns the npm packages in a package, as NAME@VERSION. Those of the bundles are listed by the build */
export function listPackaged(root: string): Set<string> {
  const bundled = readFileSync(join(root, "dist/licences.txt"), "utf8").matchAll(/^={80}\n(\S+) (\S+) \(/gm);
  const loaded = listRuntimeModules(root).map((module) => {
    const { name, version } = JSON.parse(readFileSync(join(root, module, "package.json"), "utf8"));
    return `${name}@${version}`;
  });
  const node = `node@${manifest.devDependencies.node}`;
  return new Set([...Array.from(bundled, ([, name, version]) => `${name}@${version}`), ...loaded, node]);
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
