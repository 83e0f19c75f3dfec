/** The parts of `npm run package` that need no packages. `npm run test:packages` tests the packages themselves. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import manifest from "../../../package.json" with { type: "json" };
import { parsePackageArguments } from "../../../scripts/package/command-line.ts";
import {
  findMaintainer,
  renderChangelog,
  renderConffiles,
  renderControl,
  renderCopyright,
  toDebianVersion,
} from "../../../scripts/package/debian-texts.ts";
import { findSourceDate, normalizeTree } from "../../../scripts/package/normalize.ts";
import { writeNpmPackage } from "../../../scripts/package/npm.ts";
import { listRuntimeModules } from "../../../scripts/package/npm-modules.ts";
import { writeChecksums, writeSbom } from "../../../scripts/package/release-lists.ts";
import { checkTools } from "../../../scripts/package/required-tools.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

describe("the command line", () => {
  test("without arguments, all packages for both processors", () => {
    expect(parsePackageArguments([])).toMatchObject({
      kinds: ["deb", "rpm", "tarball", "npm"],
      targets: [
        { debian: "amd64", rpm: "x86_64", node: "x64" },
        { debian: "arm64", rpm: "aarch64", node: "arm64" },
      ],
      folder: "packages",
    });
  });

  test("selects kinds, processors and the folder", () => {
    expect(parsePackageArguments(["npm", "deb", "--arch", "arm64", "--to", "out"])).toEqual({
      kinds: ["deb", "npm"],
      targets: [{ debian: "arm64", rpm: "aarch64", node: "arm64" }],
      folder: "out",
    });
    expect(parsePackageArguments(["--help"])).toBeUndefined();
  });

  test.each([
    [["apk"], 'a package must be one of deb, rpm, tarball, npm; got "apk"'],
    [["--arch", "amd64,i386"], '--arch must be a list of amd64, arm64; got "amd64,i386"'],
    [["--form", "deb"], "--form"],
  ])("%j is refused", (args, message) => {
    expect(() => parsePackageArguments(args)).toThrow(TypeError);
    expect(() => parsePackageArguments(args)).toThrow(message);
  });

  test("help is printed, and a wrong call exits with 64", () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [join(ROOT, "scripts/package.ts"), ...args], { encoding: "utf8" });
    expect(run("--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("SOURCE_DATE_EPOCH") });
    expect(run("apk")).toMatchObject({ status: 64, stderr: expect.stringContaining('got "apk"') });
  });
});

describe("a missing tool", () => {
  test("is named with the package of Debian to install", () => {
    expect(() => checkTools(["deb"], "/nowhere")).toThrow(
      "packaging needs npm, tar, gzip, dpkg-deb, which PATH does not contain; install: apt-get install npm tar gzip dpkg",
    );
    expect(() => checkTools(["npm"], "/nowhere:/nothing")).toThrow("install: apt-get install npm");
  });

  test("is not needed for other kinds", () => {
    const folder = createTestFolder();
    writeFileSync(join(folder, "npm"), "", { mode: 0o755 });
    expect(() => checkTools(["npm"], folder)).not.toThrow();
  });

  test("the cross compiler: the build names its package", () => {
    const other = process.arch === "arm64" ? "x64" : "arm64";
    const folder = createTestFolder();
    for (const name of ["src", "scripts", "package.json", "node_modules"])
      symlinkSync(join(ROOT, name), join(folder, name));
    const program = `import { buildPackagedNatives } from ${JSON.stringify(join(ROOT, "scripts/build/native.ts"))};
      try { buildPackagedNatives(${JSON.stringify(folder)}, ["${other}"], () => {}); }
      catch (error) { console.log(error.message); }`;
    const text = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      env: { PATH: "/nowhere" },
      encoding: "utf8",
    });
    expect(text).toMatch(
      /cannot compile .*guardian; .* apt-get install gcc-\S+-linux-gnu libc6-dev-\w+-cross/,
    );
  });
});

describe("texts of the Debian package", () => {
  test.each([
    ["1.2.3", "1.2.3"],
    ["1.0.0-rc.1", "1.0.0~rc.1"],
  ])("version %s is %s", (version, debian) => {
    expect(toDebianVersion(version)).toBe(debian);
  });

  test("control has the fields that dpkg needs, with descriptions of at most 80 columns", () => {
    const text = renderControl({
      version: "1.2.3",
      architecture: "arm64",
      maintainer: "A <a@b.example>",
      installedSize: 7,
      homepage: "https://b.example/",
    });
    const lines = ["Package: signalbox", "Version: 1.2.3", "Architecture: arm64", "Installed-Size: 7"];
    for (const line of [...lines, "Homepage: https://b.example/"]) expect(text.split("\n")).toContain(line);
    expect(text.endsWith("\n")).toBe(true);
    const description = text.slice(text.indexOf("Description: "));
    expect(description.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("the changelog has the time of the sources", () => {
    const text = renderChangelog("1.2.3", "A <a@b.example>", 1_750_000_000);
    expect(text).toMatch(/^signalbox \(1\.2\.3\) unstable; urgency=medium\n/);
    expect(text).toMatch(/\n -- A <a@b\.example> {2}Sun, 15 Jun 2025 15:06:40 \+0000\n$/);
  });

  test("the maintainer is that of Debian's tools", () => {
    expect(findMaintainer({ DEBFULLNAME: "A B", DEBEMAIL: "a@b.example" })).toBe("A B <a@b.example>");
    expect(findMaintainer({ DEBFULLNAME: "", DEBEMAIL: "" })).toBe(findMaintainer({}));
    expect(findMaintainer({})).toMatch(/^.+ <.+@.+>$/);
  });

  test("the copyright has the whole licence, without empty lines", () => {
    const text = renderCopyright("License: Expat\n", readFileSync(join(ROOT, "LICENSE"), "utf8"));
    expect(text).toContain("Permission is hereby granted");
    expect(text.trimEnd()).not.toContain("\n\n");
  });

  test("files in /etc are configuration", () => {
    expect(renderConffiles(["etc/signalbox/worker.yaml", "usr/bin/signalbox"])).toBe(
      "/etc/signalbox/worker.yaml\n",
    );
  });

  test.each(["postinst", "prerm", "postrm"])("%s is valid for sh, and ends at the first error", (name) => {
    const path = join(ROOT, "scripts/package/debian", name);
    expect(spawnSync("sh", ["-n", path], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(path, "utf8")).toMatch(/^#!\/bin\/sh\n(#.*\n)*set -e\n/);
  });
});

describe("reproducible packages", () => {
  test("modes and times do not depend on the builder", () => {
    const folder = createTestFolder();
    mkdirSync(join(folder, "b"), { mode: 0o700 });
    writeFileSync(join(folder, "b/program"), "", { mode: 0o700 });
    writeFileSync(join(folder, "a"), "");
    chmodSync(join(folder, "a"), 0o600);
    symlinkSync("a", join(folder, "link"));
    expect(normalizeTree(folder, 1_000)).toEqual(["a", "b/program", "link"]);
    const modes = ["a", "b", "b/program"].map((path) => statSync(join(folder, path)).mode & 0o7777);
    expect(modes).toEqual([0o644, 0o755, 0o755]);
    for (const path of ["a", "b", "b/program"]) expect(statSync(join(folder, path)).mtimeMs).toBe(1_000_000);
  });

  test("SOURCE_DATE_EPOCH is the time, and must be seconds", async () => {
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    vi.stubEnv("SOURCE_DATE_EPOCH", "1750000000");
    expect(await findSourceDate(ROOT)).toBe(1_750_000_000);
    vi.stubEnv("SOURCE_DATE_EPOCH", "today");
    await expect(findSourceDate(ROOT)).rejects.toThrow('got "today"');
  });
});

test("the packages have the npm packages that are loaded at run time, not those of the bundles", () => {
  const modules = listRuntimeModules(ROOT);
  for (const name of Object.keys(manifest.optionalDependencies))
    expect(modules).toContain(`node_modules/${name}`);
  for (const name of ["ink", "react", "esbuild", "typescript"])
    expect(modules).not.toContain(`node_modules/${name}`);
});

test("the npm package has the native programs of its processors, and not those of earlier builds", async () => {
  const [root, folder] = [createTestFolder(), createTestFolder()];
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv("HOMEPAGE", "https://b.example/");
  const manifest = { name: "a", version: "1.0.0", cpu: ["x64", "arm64"], files: ["dist"] };
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  for (const arch of ["x64", "arm64"]) {
    mkdirSync(join(root, "dist/native", arch), { recursive: true });
    writeFileSync(join(root, "dist/native", arch, "launcher"), "", { mode: 0o755 });
  }
  mkdirSync(join(root, "dist/man"));
  writeFileSync(join(root, "dist/man/a-b.1"), "");
  expect(await writeNpmPackage(root, folder, ["x64"])).toBe("a-1.0.0.tgz");
  execFileSync("tar", ["xzf", join(folder, "a-1.0.0.tgz")], { cwd: folder });
  expect(readdirSync(join(folder, "package/dist/native"))).toEqual(["x64"]);
  expect(JSON.parse(readFileSync(join(folder, "package/package.json"), "utf8"))).toMatchObject({
    cpu: ["x64"],
    man: ["dist/man/a-b.1"],
    homepage: "https://b.example/",
  });
});

test("checksums can be checked with sha256sum", () => {
  const folder = createTestFolder();
  writeFileSync(join(folder, "a.deb"), "a");
  writeFileSync(join(folder, "b.tgz"), "b");
  expect(writeChecksums(folder)).toBe("SHA256SUMS");
  writeChecksums(folder); // the file itself is not part of it
  const { status, stdout } = spawnSync("sha256sum", ["--check", "SHA256SUMS"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "a.deb: OK\nb.tgz: OK\n" });
});

test("the SBOM has the libraries of Node.js and of the native programs, and nothing that only builds", async () => {
  const folder = createTestFolder();
  const sbom = JSON.parse(readFileSync(join(folder, await writeSbom(ROOT, folder, "1.2.3", 0)), "utf8"));
  const names: string[] = sbom.components.map(({ name }: { name: string }) => name);
  const used = ["valibot", "node", "glibc", "libgcc", "ink", "@grpc/grpc-js"];
  expect(names).toEqual(expect.arrayContaining(used));
  for (const name of ["vitest", "typescript", "esbuild"]) expect(names).not.toContain(name);
  const find = (wanted: string) => sbom.components.find(({ name }: { name: string }) => name === wanted);
  expect(find("node").components).toContainEqual(
    expect.objectContaining({ name: "openssl", version: process.versions.openssl }),
  );
  expect(find("glibc").version).toMatch(/^2\.\d+$/);
  const refs = new Set([sbom.metadata.component, ...sbom.components].map((one) => one["bom-ref"]));
  for (const { ref, dependsOn } of sbom.dependencies)
    expect([ref, ...dependsOn].filter((one: string) => !refs.has(one))).toEqual([]);
});

const hasGpg = spawnSync("gpg", ["--version"]).status === 0;

describe.runIf(hasGpg)(`.ci/sign${hasGpg ? "" : " (needs gpg)"}`, () => {
  /** Runs gpg with a keyring of its own. */
  const runGpg = (home: string, words: readonly string[], input?: string) =>
    execFileSync("gpg", ["--batch", "--quiet", ...words], {
      env: { PATH: process.env.PATH, GNUPGHOME: home },
      input,
    });
  const sign = (folder: string, env: Record<string, string>) =>
    spawnSync(join(ROOT, ".ci/sign"), [folder], {
      env: { PATH: process.env.PATH, ...env },
      encoding: "utf8",
    });

  test("signs the checksums with the maintainer's key; a change is noticed; without a key: 64", () => {
    const [folder, home] = [createTestFolder(), createTestFolder()];
    chmodSync(home, 0o700);
    onTestFinished(
      () =>
        void spawnSync("gpgconf", ["--kill", "gpg-agent"], {
          env: { PATH: process.env.PATH, GNUPGHOME: home },
        }),
    );
    writeFileSync(join(folder, "a.deb"), "a");
    writeChecksums(folder);
    expect(sign(folder, {})).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("RELEASE_KEY is missing"),
    });
    const unlock = "--passphrase secret --pinentry-mode loopback".split(" ");
    runGpg(home, [...unlock, "--quick-gen-key", "a <a@example.com>", "ed25519", "sign"]);
    const key = runGpg(home, [...unlock, "--armor", "--export-secret-keys"]);
    const env = { RELEASE_KEY: key.toString(), RELEASE_KEY_PASSWORD: "secret" };
    expect(sign(folder, env)).toMatchObject({ status: 0, stdout: "" });
    const verify = ["--verify", join(folder, "SHA256SUMS.asc"), join(folder, "SHA256SUMS")];
    runGpg(home, verify);
    writeFileSync(join(folder, "SHA256SUMS"), "other");
    expect(() => runGpg(home, verify)).toThrow();
    expect(sign(folder, env).status, "the sums are wrong").toBe(1);
  });
});
