/** The checksums of the packages, and the list of the software in them. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const ROOT = resolve(import.meta.dirname, "../..");
const CHECK = ["--check", "--strict", "SHA256SUMS"];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-lists-"));
  cpSync(inject("packages"), folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("sha256sum accepts the checksums of all files, and notices a change", () => {
  const files = readdirSync(folder).filter((name) => name !== "SHA256SUMS");
  const listed = execFileSync("sha256sum", CHECK, { cwd: folder, encoding: "utf8" });
  expect(listed.trim().split("\n").sort()).toEqual(files.map((name) => `${name}: OK`).sort());
  appendFileSync(join(folder, `signalbox-${manifest.version}.tgz`), "x");
  expect(spawnSync("sha256sum", CHECK, { cwd: folder }).status).toBe(1);
});

test("the formula for Homebrew is Ruby, and names the npm package and its checksum", () => {
  const formula = join(folder, "signalbox.rb");
  const name = `signalbox-${manifest.version}.tgz`;
  const [sum] = execFileSync("sha256sum", [name], { cwd: inject("packages"), encoding: "utf8" }).split(" ");
  expect(readFileSync(formula, "utf8")).toMatch(
    new RegExp(`/v${manifest.version}/${name}"\\n  sha256 "${sum}"\\n`),
  );
  expect(readFileSync(formula, "utf8")).not.toContain("@HOMEPAGE");
  const ruby = spawnSync("ruby", ["-c", formula], { encoding: "utf8" });
  if (ruby.error === undefined) expect(ruby.stdout).toBe("Syntax OK\n"); // brew itself was not tried
});

interface Component {
  name: string;
  version: string;
  scope: string;
  purl: string;
  licenses?: { license?: { id?: string }; expression?: string }[];
}

function readSbom(): { bomFormat: string; specVersion: string; components: Component[] } {
  return JSON.parse(readFileSync(join(folder, `signalbox-${manifest.version}.cdx.json`), "utf8"));
}

test("the SBOM names everything that the packages contain, with version and licence", () => {
  const { bomFormat, specVersion, components } = readSbom();
  expect({ bomFormat, specVersion }).toEqual({ bomFormat: "CycloneDX", specVersion: "1.5" });
  const packaged = components.filter(({ scope }) => scope === "required");
  expect(packaged.map(({ name, version }) => `${name} ${version}`)).toEqual(
    expect.arrayContaining([...listBundled(), ...listInstalled("etcd3"), ...listInstalled("node")]),
  );
  const isUnknown = ({ licenses = [], purl }: Component) =>
    !licenses.some(({ license, expression }) => license?.id ?? expression) ||
    !/^pkg:(?:npm|generic)\//.test(purl);
  expect(packaged.filter(isUnknown)).toEqual([]);
});

/** @returns name and version of the packages whose licences are in the npm package */
function listBundled() {
  const text = readFileSync(join(ROOT, "dist/licences.txt"), "utf8");
  return Array.from(text.matchAll(/^={80}\n(\S+ \S+) \(/gm), ([, entry = ""]) => entry);
}

function listInstalled(name: string) {
  const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"));
  return [`${name} ${version}`];
}
