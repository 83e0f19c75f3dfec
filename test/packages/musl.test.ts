/** The native programs and the addon of the npm package where there is no glibc. There is no Node.js for musl that this test could take. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { runApt, unpackAll, unpackInto } from "../../fixtures/packages/debian-packages.ts";

const CACHE = resolve(import.meta.dirname, "../../.cache/musl");
const CPU = process.arch === "arm64" ? "aarch64" : "x86_64";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-musl-"));
  const packages = inject("packages");
  const [name = "none"] = readdirSync(packages).filter((one) => /^signalbox-[\d.]+\.tgz$/.test(one));
  execFileSync("tar", ["-xf", join(packages, name), "-C", folder]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function findNative(name: string, arch: string = process.arch) {
  return join(folder, "package/dist/native", arch, name);
}

describe.each(["x64", "arm64"])("the addon for %s", (arch) => {
  test("needs no library, and of its process only Node-API", () => {
    const path = findNative("peer.node", arch);
    expect(runTool("readelf", "-dW", path)).not.toContain("NEEDED");
    const symbols = runTool("nm", "-D", "--undefined-only", path).trim().split("\n");
    expect(symbols.filter((line) => !/^ *U napi_\w+$/.test(line))).toEqual([]);
  });
});

test("musl's dynamic linker loads the addon", async () => {
  const program = await linkWithMusl(findNative("peer.node"));
  expect(runTool(program, findNative("peer.node"))).toBe("loaded\n");
});

const isRoot = process.getuid?.() === 0;
describe.skipIf(!isRoot)(`in a root without any library${isRoot ? "" : " (needs root)"}`, () => {
  test.each([
    [
      "launcher",
      ["run", "--agent", "always", "--agent-socket", "/none", "--lock", "a", "--", "true"],
      69,
      "no agent serves",
    ],
    ["guardian", [], 5, "started by signalbox only"],
    ["notify", [], 1, "started by signalbox only"],
  ] as const)("the %s starts", (name, args, status, message) => {
    const root = join(folder, `root-${name}`);
    mkdirSync(root);
    copyFileSync(findNative(name), join(root, name));
    const { stderr, ...end } = spawnSync("chroot", [root, `/${name}`, ...args], { encoding: "utf8" });
    expect({ status: end.status, stderr }).toEqual({ status, stderr: expect.stringContaining(message) });
  });
});

/** @returns the path of a program with musl that loads an addon, and has what the addon needs of Node */
async function linkWithMusl(addon: string) {
  const musl = join(CACHE, process.arch);
  if (!existsSync(musl))
    await unpackInto(musl, async (scratch, target) => {
      await runApt(scratch, [], "download", "musl", "musl-dev");
      await unpackAll(scratch, target);
    });
  const [lib, program] = [join(musl, "usr/lib", `${CPU}-linux-musl`), join(folder, "load")];
  const linker = join(musl, "lib", `ld-musl-${CPU}.so.1`);
  const source = join(folder, "load.c");
  writeFileSync(source, renderLoader(addon));
  execFileSync("cc", [
    "-w",
    "-nostdinc",
    "-isystem",
    join(musl, "usr/include", `${CPU}-linux-musl`),
    "-nostdlib",
    "-no-pie",
    "-rdynamic",
    `-Wl,-dynamic-linker,${linker}`,
    "-o",
    program,
    join(lib, "crt1.o"),
    join(lib, "crti.o"),
    source,
    linker,
    join(lib, "crtn.o"),
  ]);
  return program;
}

function renderLoader(addon: string) {
  const names = runTool("nm", "-D", "--undefined-only", addon).match(/napi_\w+/g) ?? [];
  return `#include <dlfcn.h>
#include <stdio.h>
${names.map((name) => `int ${name}(void) { return 0; }`).join("\n")}
int main(int argc, char **argv) {
  void *addon = dlopen(argv[1], RTLD_NOW);
  puts(!addon ? dlerror() : dlsym(addon, "napi_register_module_v1") ? "loaded" : "no addon");
}
`;
}

function runTool(command: string, ...args: string[]) {
  return execFileSync(command, args, { encoding: "utf8" });
}
