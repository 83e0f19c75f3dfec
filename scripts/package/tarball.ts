/** Writes the tarball: the files of the Debian package, to be unpacked in `/`. */
import { join } from "node:path";
import { $ } from "zx";
import { normalizeTree } from "./normalize.ts";
import type { PackageJob } from "./package-job.ts";

/** @returns the name of the tarball */
export async function writeTarball(
  { folder, version, time, target }: PackageJob,
  tree: string,
): Promise<string> {
  normalizeTree(tree, time);
  const name = `signalbox-${version}-linux-${target.debian}.tar.gz`;
  const owner = ["--owner=0", "--group=0", "--numeric-owner", "--sort=name", "--format=gnu"];
  const gzip = "--use-compress-program=gzip -n";
  // only what it contains, because an entry for the folder itself would change the mode of `/`
  await $({ cwd: tree })`tar -c ${owner} ${gzip} -f ${join(folder, name)} etc usr var`;
  return name;
}
