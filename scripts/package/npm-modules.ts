/** The npm packages that the bundles load at run time: etcd3, and what it needs. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { renderLicence } from "../build/licences.ts";

interface LockedPackage {
  dev?: boolean;
}

/** Files of npm packages that signalbox does not load. Their licences are collected in one file. */
const UNUSED = /(\.[cm]?ts|\.map|\.md|\.markdown|\.html)$|^(licen[cs]e|copying|\.)/i;

/** @returns the folders of the packages below the checkout, such as `node_modules/etcd3` */
export function listRuntimeModules(root: string): string[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const packages = Object.entries<LockedPackage>(lock.packages);
  return packages.filter(([folder, { dev }]) => folder !== "" && dev !== true).map(([folder]) => folder);
}

/** Copies the packages into a folder that then has a `node_modules`. */
export function copyRuntimeModules(root: string, to: string): void {
  for (const folder of listRuntimeModules(root))
    for (const file of listUsedFiles(join(root, folder))) {
      const target = join(to, folder, file);
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(root, folder, file), target);
      chmodSync(target, 0o644); // some are executable by mistake
    }
}

/** Lists the files of a package, without those of the packages that are installed in it. */
function listUsedFiles(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths
    .filter((path) => !/^node_modules\/|(^|\/)bin\//.test(path) && !UNUSED.test(basename(path)))
    .filter((path) => statSync(join(folder, path)).isFile());
}

/** @returns the licences of the packages */
export function renderModuleLicences(root: string): string {
  return listRuntimeModules(root)
    .map((folder) => renderLicence(join(root, folder)))
    .join("\n");
}
