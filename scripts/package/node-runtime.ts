/** The Node.js that the packages contain: that of the npm package `node` in package.json, for any processor. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { $ } from "zx";
import manifest from "../../package.json" with { type: "json" };
import type { Architecture } from "../build/native.ts";

const VERSION = manifest.devDependencies.node;

/** `dist.integrity` of node-linux-ARCH in this version, so that nothing else can get into a package. */
const INTEGRITY: Record<Architecture, string> = {
  x64: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  arm64: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
};

/**
 * Puts `node` and its `LICENSE` into a folder. Downloads it from the npm registry once, and keeps it under `.cache`.
 * @throws Error if the download fails, or is not what is expected
 */
export async function extractNode(root: string, arch: Architecture, folder: string): Promise<void> {
  const archive = await downloadNode(root, arch);
  checkIntegrity(archive, arch);
  const files = ["package/bin/node", "package/LICENSE"];
  const toTop = "--transform=s,.*/,,";
  await $`tar -xzf ${archive} -C ${folder} ${toTop} --no-same-owner ${files}`;
}

async function downloadNode(root: string, arch: Architecture): Promise<string> {
  const cache = join(root, ".cache/node-runtime");
  const archive = join(cache, `node-linux-${arch}-${VERSION}.tgz`);
  if (existsSync(archive)) return archive;
  mkdirSync(cache, { recursive: true });
  await $`npm pack --silent --pack-destination ${cache} ${`node-linux-${arch}@${VERSION}`}`;
  return archive;
}

function checkIntegrity(archive: string, arch: Architecture): void {
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found === INTEGRITY[arch]) return;
  rmSync(archive);
  throw new Error(
    `node-linux-${arch}@${VERSION} has the integrity ${found}, not ${INTEGRITY[arch]}; if package.json has another ` +
      `version of node now, take its value from \`npm view node-linux-${arch}@${VERSION} dist.integrity\` to ` +
      "scripts/package/node-runtime.ts",
  );
}
