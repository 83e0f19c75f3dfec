/** Builds the packages once for all files, and the Debian package of an earlier version of the same sources. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { explainNoBareRoot, explainNoEmulation } from "../../fixtures/requirements.ts";
import { OWN_ARCHITECTURE } from "./bare-root.ts";

export const OLD_VERSION = "0.0.9";

const ROOT = resolve(import.meta.dirname, "../..");

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of the packages. */
    packages: string;
    /** Folder of the Debian package of the earlier version. */
    oldPackages: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-packages-"));
  const [packages, oldPackages] = [join(folder, "new"), join(folder, "old")];
  project.provide("packages", packages);
  project.provide("oldPackages", oldPackages);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    writeAll(folder, packages, oldPackages);
  } catch (error) {
    remove(); // vitest does so only after a setup that succeeds
    throw error;
  }
  return remove;
}

function writeAll(folder: string, packages: string, oldPackages: string): void {
  const [noBareRoot, noEmulation] = [explainNoBareRoot(), explainNoEmulation()];
  writePackages(ROOT, "npm", "--to", packages);
  if (noBareRoot !== undefined) return console.error(`the Debian package is not tested: ${noBareRoot}`);
  if (noEmulation !== undefined) console.error(`only one processor is tested: ${noEmulation}`);
  const tested = noEmulation === undefined ? ["amd64", "arm64"] : [OWN_ARCHITECTURE];
  const arch = ["--arch", tested.join(",")];
  writePackages(ROOT, "deb", "tarball", ...arch, "--to", packages);
  writePackages(copySources(join(folder, "sources")), "deb", ...arch, "--to", oldPackages);
}

function writePackages(root: string, ...args: string[]): void {
  // compression takes most of the time, and is not what is tested
  const env = { ...process.env, DPKG_DEB_COMPRESSOR_LEVEL: "0", SOURCE_DATE_EPOCH: "1750000000" };
  const script = join(root, "scripts/package.ts");
  execFileSync(process.execPath, [script, ...args], { cwd: root, env, stdio: "inherit" });
}

/** Copies the checkout, with a lower version. @returns the folder of the copy */
function copySources(to: string): string {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  for (const file of files.split("\0").filter((name) => name !== "")) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(ROOT, file), join(to, file));
  }
  for (const name of ["package.json", "package-lock.json"]) {
    const document = JSON.parse(readFileSync(join(to, name), "utf8"));
    document.version = OLD_VERSION;
    if (name === "package-lock.json") document.packages[""].version = OLD_VERSION;
    writeFileSync(join(to, name), `${JSON.stringify(document, null, 2)}\n`);
  }
  for (const name of ["node_modules", ".cache"]) symlinkSync(join(ROOT, name), join(to, name));
  return to;
}
