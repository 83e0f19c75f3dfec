/** The files of a package as they are installed, below a folder that stands for `/`. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { NO_DEBUGGER } from "../../src/core/process/node-options.ts";
import { findMaintainer, renderChangelog, renderCopyright, toDebianVersion } from "./debian-texts.ts";
import { extractNode } from "./node-runtime.ts";
import { copyRuntimeModules, renderModuleLicences } from "./npm-modules.ts";
import type { PackageJob } from "./package-job.ts";
import type { Target } from "./targets.ts";

/** A file of the checkout, and where it is installed. */
type Installed = readonly [source: string, path: string];

const LIB = "usr/lib/signalbox";
const DOC = "usr/share/doc/signalbox";
/** Files that are in the checkout, and where they are installed. */
const PLAIN: readonly Installed[] = [
  ["dist/completions/bash/signalbox", "usr/share/bash-completion/completions/signalbox"],
  ["dist/completions/zsh/_signalbox", "usr/share/zsh/vendor-completions/_signalbox"],
  ["dist/completions/fish/signalbox.fish", "usr/share/fish/vendor_completions.d/signalbox.fish"],
  ["scripts/package/debian/config.example.json", `${DOC}/examples/config.json`],
  ["scripts/package/debian/signalbox-worker.default", "etc/default/signalbox-worker"],
  ["docs/logrotate/signalbox", "etc/logrotate.d/signalbox"],
  ["scripts/package/debian/worker.yaml", "etc/signalbox/worker.yaml"],
  ["scripts/package/debian/lintian-overrides", "usr/share/lintian/overrides/signalbox"],
];
const COMPRESSED: readonly Installed[] = [["CHANGELOG.md", `${DOC}/CHANGELOG.md.gz`]];
const UNITS = "docs/systemd";
const MAN = "dist/man";
/** Folders for files of the worker and for logs. */
const EMPTY = ["var/lib/signalbox", "var/log/signalbox"];
/** Parts of dist/ that are installed elsewhere, or that only an installation by npm needs. */
const NOT_IN_LIB = [
  "completions",
  "library.mjs",
  "licences.txt",
  "man",
  "native",
  "node",
  "signalbox",
  "types",
];

/** Builds the tree in a new folder, which the caller removes. @returns its path */
export async function buildTree(job: PackageJob): Promise<string> {
  const { root, target } = job;
  const tree = mkdtempSync(join(tmpdir(), "signalbox-package-"));
  await fillLib(root, join(tree, LIB), target);
  for (const [source, path] of [...PLAIN, ...listUnits(root)])
    write(tree, path, readFileSync(join(root, source)));
  for (const [source, path] of [...COMPRESSED, ...listManualPages(root)])
    write(tree, path, compress(readFileSync(join(root, source))));
  for (const folder of EMPTY) mkdirSync(join(tree, folder), { recursive: true });
  writeTexts(job, tree);
  mkdirSync(join(tree, "usr/bin"));
  symlinkSync(`../lib/signalbox/native/${target.node}/launcher`, join(tree, "usr/bin/signalbox"));
  return tree;
}

/** Lists the units of systemd. */
function listUnits(root: string): Installed[] {
  return readdirSync(join(root, UNITS)).map((name) => [join(UNITS, name), `usr/lib/systemd/system/${name}`]);
}

function listManualPages(root: string): Installed[] {
  return readdirSync(join(root, MAN)).map((name) => [join(MAN, name), `usr/share/man/man1/${name}.gz`]);
}

/** Writes what Debian wants to know about a package: its changes, and the licences of everything in it. */
function writeTexts({ root, version, time }: PackageJob, tree: string): void {
  const changelog = renderChangelog(toDebianVersion(version), findMaintainer(), time);
  write(tree, `${DOC}/changelog.gz`, compress(changelog));
  const copyright = readFileSync(join(root, "scripts/package/debian/copyright"), "utf8");
  write(tree, `${DOC}/copyright`, renderCopyright(copyright, readFileSync(join(root, "LICENSE"), "utf8")));
  const licences = `${readFileSync(join(root, "dist/licences.txt"), "utf8")}\n${renderModuleLicences(root)}`;
  write(tree, `${DOC}/npm-licences.gz`, compress(licences));
  write(tree, `${DOC}/node-licences.gz`, compress(readFileSync(join(tree, LIB, "LICENSE"))));
  rmSync(join(tree, LIB, "LICENSE"));
}

async function fillLib(root: string, lib: string, { node: arch }: Target): Promise<void> {
  const dist = join(root, "dist");
  cpSync(dist, lib, {
    recursive: true,
    filter: (path) =>
      !(dirname(path) === dist && NOT_IN_LIB.includes(basename(path))) && !isCodeOfOther(path, arch),
  });
  cpSync(join(dist, "native", arch), join(lib, "native", arch), { recursive: true });
  copyRuntimeModules(root, lib);
  await extractNode(root, arch, lib);
  for (const name of readdirSync(join(lib, "maintenance"))) setInterpreter(join(lib, "maintenance", name));
}

/** Whether a file is code that V8 has compiled for another processor. */
function isCodeOfOther(path: string, arch: string): boolean {
  return path.endsWith(".code") && !path.endsWith(`-${arch}.code`);
}

/** The kernel starts the packaged Node directly: a shell and a search of PATH would be slower. */
function setInterpreter(program: string): void {
  const text = readFileSync(program, "utf8");
  writeFileSync(program, text.replace(/^#!.*/, `#!/${LIB}/node ${NO_DEBUGGER}`), { mode: 0o755 });
}

export function write(tree: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), content);
}

/** Without a time in the header, so that the same text gives the same bytes. */
function compress(content: string | Buffer): Buffer {
  return gzipSync(content, { level: 9 });
}
