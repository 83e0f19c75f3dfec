import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Written by any installation of any package: databases, caches and logs of Debian's tools, backups of user lists. */
const OF_DEBIAN = /^(var\/lib\/dpkg|var\/cache|var\/log\/(dpkg|alternatives)|etc\/(passwd|group|g?shadow)-$)/;
/** Not part of the installation. What a program keeps in the homes of its users is theirs: no package removes it. */
const TRANSIENT = /^(proc|sys|dev|tmp|run|root)(\/|$)/;

/** @returns each path below a root with its kind or the contents of its file, without what Debian's own tools write */
export function describeFiles(root: string): Map<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
  const kept = paths.filter((path) => !TRANSIENT.test(path) && !OF_DEBIAN.test(path)).sort();
  return new Map(kept.map((path) => [path, describeFile(join(root, path))]));
}

function describeFile(path: string): string {
  const status = lstatSync(path);
  if (status.isSymbolicLink()) return "link";
  return status.isFile() ? readFileSync(path, "latin1") : "folder";
}
