/** Writes the Debian package. */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";
import { findMaintainer, renderConffiles, renderControl, toDebianVersion } from "./debian-texts.ts";
import { normalizeTree } from "./normalize.ts";
import type { PackageJob } from "./package-job.ts";
import { write } from "./tree.ts";

const TEXTS = join(import.meta.dirname, "debian");
const MAINTAINER_SCRIPTS = ["postinst", "prerm", "postrm"];

/** @param tree  what is installed. @returns the name of the package */
export async function writeDebianPackage(job: PackageJob, tree: string): Promise<string> {
  const { folder, time, target } = job;
  const version = toDebianVersion(job.version);
  const paths = normalizeTree(tree, time);
  write(tree, "DEBIAN/conffiles", renderConffiles(paths));
  write(tree, "DEBIAN/md5sums", paths.map((path) => renderSum(tree, path)).join(""));
  const { debian: architecture } = target;
  const fields = { version, architecture, maintainer: findMaintainer(), homepage: process.env.HOMEPAGE };
  write(tree, "DEBIAN/control", renderControl({ ...fields, installedSize: measureKib(tree, paths) }));
  for (const name of MAINTAINER_SCRIPTS) {
    write(tree, `DEBIAN/${name}`, readFileSync(join(TEXTS, name)));
    chmodSync(join(tree, "DEBIAN", name), 0o755);
  }
  normalizeTree(tree, time);
  const name = `signalbox_${version}_${architecture}.deb`;
  await $({
    env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
  })`dpkg-deb --root-owner-group -Zxz --build ${tree} ${join(folder, name)}`;
  rmSync(join(tree, "DEBIAN"), { recursive: true });
  return name;
}

/** @returns a line of md5sums; nothing for links. @see deb-md5sums(5) */
function renderSum(tree: string, path: string): string {
  if (lstatSync(join(tree, path)).isSymbolicLink()) return "";
  return `${createHash("md5")
    .update(readFileSync(join(tree, path)))
    .digest("hex")}  ${path}\n`;
}

function measureKib(tree: string, paths: readonly string[]): number {
  const sizes = paths.map((path) => Math.ceil(lstatSync(join(tree, path)).size / 1024));
  return sizes.reduce((sum, size) => sum + size, 0);
}
