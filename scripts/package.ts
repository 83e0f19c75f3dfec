/** Writes packages: `npm run package -- --help`. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { $ } from "zx";
import manifest from "../package.json" with { type: "json" };
import { HELP, type PackageRequest, parsePackageArguments } from "./package/command-line.ts";
import { writeDebianPackage } from "./package/deb.ts";
import { findSourceDate } from "./package/normalize.ts";
import { writeFormula, writeNpmPackage } from "./package/npm.ts";
import type { PackageJob } from "./package/package-job.ts";
import { writeChecksums, writeSbom } from "./package/release-lists.ts";
import { checkTools } from "./package/required-tools.ts";
import { writeRpmPackage } from "./package/rpm.ts";
import { writeTarball } from "./package/tarball.ts";
import { buildTree } from "./package/tree.ts";

const root = resolve(import.meta.dirname, "..");
const { version } = manifest;

try {
  const request = parsePackageArguments(process.argv.slice(2));
  if (request === undefined) console.log(HELP);
  else await writePackages(request);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof TypeError ? 64 : 1;
}

async function writePackages({ kinds, targets, folder: given }: PackageRequest): Promise<void> {
  const folder = resolve(given);
  checkTools(kinds, process.env.PATH ?? "");
  const time = await findSourceDate(root);
  const natives = targets.map(({ node }) => node);
  report(`building signalbox ${version}`);
  await $`${process.execPath} ${join(root, "scripts/build.ts")} --natives ${natives.join(",")}`;
  mkdirSync(folder, { recursive: true });
  const writers = [
    ...(kinds.includes("deb") ? [writeDebianPackage] : []),
    ...(kinds.includes("rpm") ? [writeRpmPackage] : []),
    ...(kinds.includes("tarball") ? [writeTarball] : []),
  ];
  const unfinished = mkdtempSync(`${folder}-`); // beside it: files get their final place when they are whole
  try {
    const job = { root, folder: unfinished, version, time };
    for (const target of writers.length === 0 ? [] : targets)
      await writeForTarget({ ...job, target }, writers);
    if (kinds.includes("npm")) {
      const name = await writeNpmPackage(root, unfinished, natives);
      report(name);
      report(writeFormula(unfinished, version, name));
    }
    report(await writeSbom(root, unfinished, version, time));
    for (const name of readdirSync(unfinished)) renameSync(join(unfinished, name), join(folder, name));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  report(writeChecksums(folder));
}

type Writer = (job: PackageJob, tree: string) => Promise<string>;

async function writeForTarget(job: PackageJob, writers: readonly Writer[]): Promise<void> {
  report(`collecting the files for ${job.target.debian}`);
  const tree = await buildTree(job);
  try {
    for (const write of writers) report(await write(job, tree));
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function report(line: string): void {
  console.error(line);
}
