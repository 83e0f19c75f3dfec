/** Makes packages reproducible: modes and times do not depend on who builds, where and when. */
import { chmodSync, lstatSync, lutimesSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";

/** @returns the time of all files, s since 1970: SOURCE_DATE_EPOCH, or that of the last commit */
export async function findSourceDate(root: string): Promise<number> {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined) return parseSeconds(given);
  const { exitCode, stdout } = await $({ nothrow: true })`git -C ${root} log -1 --format=%ct`;
  if (exitCode !== 0)
    throw new Error("the time of the last commit is unknown; set SOURCE_DATE_EPOCH (seconds since 1970)");
  return parseSeconds(stdout.trim());
}

function parseSeconds(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new TypeError(`SOURCE_DATE_EPOCH must be seconds since 1970; got "${text}"`);
}

/** Sets the modes and times of everything in a folder. @returns the paths of all files and links, in order */
export function normalizeTree(tree: string, time: number): string[] {
  const paths = readdirSync(tree, { recursive: true, encoding: "utf8" }).sort();
  for (const path of ["", ...paths]) normalize(join(tree, path), time);
  return paths.filter((path) => !lstatSync(join(tree, path)).isDirectory());
}

/** @returns the folders that belong to the package: the others are those of the system */
export function listOwnFolders(tree: string): string[] {
  const paths = readdirSync(tree, { recursive: true, encoding: "utf8" }).sort();
  return paths.filter(
    (path) => /(^|\/)signalbox(\/|$)/.test(path) && lstatSync(join(tree, path)).isDirectory(),
  );
}

function normalize(path: string, time: number): void {
  const status = lstatSync(path);
  if (!status.isSymbolicLink()) chmodSync(path, isExecutable(status) ? 0o755 : 0o644);
  lutimesSync(path, time, time);
}

function isExecutable(status: Stats): boolean {
  return status.isDirectory() || (status.mode & 0o100) !== 0;
}
