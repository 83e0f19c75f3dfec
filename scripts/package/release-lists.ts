/** What accompanies the packages: checksums, and a list of the software in them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";
import manifest from "../../package.json" with { type: "json" };
import { formatChecksums } from "../build/checksums.ts";
import { listRuntimeModules } from "./npm-modules.ts";

const SUMS = "SHA256SUMS";

interface Component {
  "bom-ref": string;
  type: string;
  name: string;
  version: string;
  scope: "required";
  purl: string;
  properties?: { name: string; value: string }[];
  licenses?: { expression: string }[];
  components?: Component[];
}

/**
 * Writes a CycloneDX SBOM of the contents of the packages: the npm packages in the bundles, the npm packages that the bundles load,
 * Node.js with the libraries in it, and the libraries in the native programs. Packages for builds and tests are left out.
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
  const modules: Component[] = sbom.components
    .filter((one: Component) => packaged.has(`${one.name}@${one.version}`))
    .map((one: Component) => ({ ...one, scope: "required", properties: [] })); // npm calls them development dependencies
  const libraries = await listLinkedLibraries();
  sbom.components = [...modules.map(addNodeLibraries), ...libraries];
  const refs = new Set([sbom.metadata.component, ...sbom.components].map((one: Component) => one["bom-ref"]));
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }: { ref: string }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }: { ref: string; dependsOn?: string[] }) => ({
      ref,
      dependsOn: dependsOn.filter((one) => refs.has(one)),
    }));
  sbom.metadata.component.name = "signalbox"; // npm takes the name of the folder
  sbom.metadata.timestamp = new Date(time * 1_000).toISOString();
  const name = `signalbox-${version}.cdx.json`;
  writeFileSync(join(folder, name), `${JSON.stringify(sbom, null, 2)}\n`);
  return name;
}

/** Adds OpenSSL, V8 and others to Node.js. This process runs on the Node.js that the packages contain. */
function addNodeLibraries(component: Component): Component {
  if (component.name !== "node" || component.version !== process.versions.node) return component;
  const { node: _, modules: _abi, napi: _api, unicode: _data, ...libraries } = process.versions;
  const components = Object.entries(libraries).flatMap(([name, version]) =>
    version === undefined || version === "" ? [] : createLibrary(name, version, LICENCES[name]),
  );
  return { ...component, components };
}

const LICENCES: Readonly<Record<string, string>> = {
  openssl: "Apache-2.0",
  zlib: "Zlib",
  uv: "MIT",
  v8: "BSD-3-Clause",
};

/** Lists the libraries that are linked into the native programs, by the compiler of this machine. */
async function listLinkedLibraries(): Promise<Component[]> {
  const compiler = process.env.CC || "cc";
  const { stdout: macros } = await $({
    input: "__GLIBC__.__GLIBC_MINOR__",
  })`${compiler} -include features.h -E -P -`;
  const { stdout: gcc } = await $`${compiler} -dumpfullversion`;
  return [
    createLibrary(
      "glibc",
      macros.trim().split("\n").at(-1)?.replaceAll(/\s/g, "") ?? "",
      "LGPL-2.1-or-later",
    ),
    createLibrary("libgcc", gcc.trim(), "GPL-3.0-or-later WITH GCC-exception-3.1"),
  ];
}

function createLibrary(name: string, version: string, licence?: string): Component {
  const purl = `pkg:generic/${name}@${encodeURIComponent(version)}`;
  return {
    "bom-ref": `${name}@${version}`,
    type: "library",
    name,
    version,
    scope: "required",
    purl,
    ...(licence !== undefined && { licenses: [{ expression: licence }] }),
  };
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
  writeFileSync(join(folder, SUMS), formatChecksums(folder, names.sort()));
  return SUMS;
}
