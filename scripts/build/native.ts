/**
 * Compiles the programs in C: the guardian, which ends commands, the launcher, and the notifier for systemd; and the addon
 * in C, which reads who connects to the agent.
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { HEAP_LIMITS } from "../../src/bin/heap-limits.ts";
import { HASH_LIST } from "../../src/core/process/native/locate.ts";
import { formatChecksums } from "./checksums.ts";

/** The names of processors are those of Node. */
export type Architecture = "x64" | "arm64";

/** The cross compiler for each processor that packages are made for, and the packages of Debian that contain it. */
const CROSS_COMPILERS: Record<Architecture, { command: string; debian: string }> = {
  x64: { command: "x86_64-linux-gnu-gcc", debian: "gcc-x86-64-linux-gnu libc6-dev-amd64-cross" },
  arm64: { command: "aarch64-linux-gnu-gcc", debian: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" },
};
/** Processors that packages are made for. */
export const ARCHITECTURES = Object.keys(CROSS_COMPILERS) as Architecture[];

/**
 * Names of the programs in `dist/native/ARCH/`, and the programs whose sources they share. The sources of a program are in
 * `src/core/process/NAME/`; its `main.c` is not shared.
 */
const SHARED_SOURCES: Record<string, readonly string[]> = {
  guardian: [],
  launcher: ["guardian"],
  notify: [],
};
export const NATIVE_PROGRAMS = Object.keys(SHARED_SOURCES);
/** Addons for Node in `dist/native/ARCH/NAME.node`. Their sources are in `src/core/process/NAME/`. */
const NATIVE_ADDONS = ["peer"];
export const FLAGS = [
  "-O2",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-std=gnu11",
  "-s",
  "-Wl,-z,now,-z,relro,-z,noexecstack",
  `-DHEAP_LIMITS=${formatHeapLimits()}`,
];

/** Formats the limits of each command as the rows of an array in C: its name, its options, NULL. */
function formatHeapLimits(): string {
  return Object.entries(HEAP_LIMITS)
    .map(
      (row) =>
        `{${row
          .flat()
          .map((word) => `"${word}",`)
          .join("")}NULL}`,
    )
    .join(",");
}

/** Checks of libc that end a program with a fault. The addon has no libc. */
const CHECKS = [
  "-fstack-protector-strong",
  "-fstack-clash-protection",
  "-U_FORTIFY_SOURCE",
  "-D_FORTIFY_SOURCE=3",
];

/** How a program is linked, the best way first: at a random address, where libc has what that takes (rcrt1.o). */
const STATIC_WAYS = {
  "static, position-independent": ["-static-pie", "-fPIE"],
  static: ["-static"],
};
const WAYS = { ...STATIC_WAYS, "dynamic: libc.a is missing": ["-pie", "-fPIE"] };

interface Compiler {
  command: string;
  /** Debian's packages that contain it. */
  debian: string;
  /** Whether a program without libc in it is refused. Programs of packages must start wherever they are installed. */
  isStaticRequired: boolean;
}

const HEAP_LIMITS_SOURCE = join(import.meta.dirname, "../../src/bin/heap-limits.ts");

/** How an addon is built: without libc, so that it works with any. Its undefined symbols are those of Node. */
export const ADDON_FLAGS = [
  "-shared",
  "-fPIC",
  "-nostdlib",
  "-ffreestanding",
  "-fno-stack-protector",
  "-fvisibility=hidden",
];

type Report = (product: string, note: string) => void;

/** Compiles the programs for the processor of this machine, with `CC` if it is set. @throws Error that names the remedy */
export function buildOwnNatives(root: string, report: Report): void {
  const own = { command: process.env.CC || "cc", debian: "gcc libc6-dev", isStaticRequired: false };
  buildFolder(root, process.arch, own, report);
}

/** Builds all for one processor. */
function buildFolder(root: string, arch: string, compiler: Compiler, report: Report): void {
  for (const name of NATIVE_PROGRAMS) buildNative(root, name, arch, compiler, report);
  for (const name of NATIVE_ADDONS) buildAddon(root, name, arch, compiler, report);
  writeHashes(join(root, "dist/native", arch));
}

/** Writes the hashes that `signalbox doctor` compares. */
function writeHashes(folder: string): void {
  const names = [...NATIVE_PROGRAMS, ...NATIVE_ADDONS.map((name) => `${name}.node`)];
  const draft = join(folder, `${HASH_LIST}.${process.pid}`); // a program can read it at this moment
  writeFileSync(draft, formatChecksums(folder, names));
  renameSync(draft, join(folder, HASH_LIST));
}

/**
 * Compiles the programs for packages: for each of these processors, with a cross compiler if it is not that of this machine.
 * @throws Error that names the remedy
 */
export function buildPackagedNatives(
  root: string,
  architectures: readonly Architecture[],
  report: Report,
): void {
  const own = { command: process.env.CC || "cc", debian: "gcc libc6-dev" };
  for (const arch of architectures) {
    const compiler = { ...(arch === process.arch ? own : CROSS_COMPILERS[arch]), isStaticRequired: true };
    buildFolder(root, arch, compiler, report);
  }
}

/** Parses a list such as `x64,arm64`. @throws Error for a processor that packages are not made for */
export function parseArchitectures(list: string): Architecture[] {
  return list.split(",").map((name) => {
    const found = ARCHITECTURES.find((arch) => arch === name);
    if (found !== undefined) return found;
    throw new Error(`--natives must be a list of ${ARCHITECTURES.join(", ")}; got "${list}"`);
  });
}

function buildNative(root: string, name: string, arch: string, compiler: Compiler, report: Report): void {
  const files = listSources(root, name);
  const product = `dist/native/${arch}/${name}`;
  if (isUpToDate(join(root, product), files, compiler)) report(product, "up to date");
  else report(product, linkProgram(join(root, product), files, compiler));
}

function buildAddon(root: string, name: string, arch: string, compiler: Compiler, report: Report): void {
  const source = join(root, "src/core/process", name, `${name}.c`);
  const product = `dist/native/${arch}/${name}.node`;
  if (isUpToDate(join(root, product), [source], compiler)) return report(product, "up to date");
  link(join(root, product), [source], compiler, [ADDON_FLAGS]);
  report(product, "without libc");
}

export function listSources(root: string, name: string): string[] {
  const shared = (SHARED_SOURCES[name] ?? []).flatMap((other) => listFiles(root, other));
  return [...listFiles(root, name), ...shared.filter((path) => basename(path) !== "main.c")];
}

function listFiles(root: string, name: string): string[] {
  const folder = join(root, "src/core/process", name);
  return readdirSync(folder).map((file) => join(folder, file));
}

function isUpToDate(path: string, files: readonly string[], { isStaticRequired }: Compiler): boolean {
  const sources = [...files, import.meta.filename, HEAP_LIMITS_SOURCE];
  if (!existsSync(path)) return false;
  if (isStaticRequired && !isStatic(path)) return false;
  return statSync(path).mtimeMs >= Math.max(...sources.map((source) => statSync(source).mtimeMs));
}

/**
 * Compiles and links a program. A static one starts a third faster, and ignores an LD_PRELOAD meant for the command.
 * Without libc.a, it is linked dynamically, unless it must be static.
 * @returns how it is linked
 */
function linkProgram(path: string, files: readonly string[], compiler: Compiler): string {
  const ways = Object.entries(compiler.isStaticRequired ? STATIC_WAYS : WAYS);
  const used = link(
    path,
    files,
    compiler,
    ways.map(([, flags]) => [...CHECKS, ...flags]),
  );
  return ways[used]?.[0] ?? "";
}

/** Compiles and links with the first of several sets of flags that succeeds. @returns its index */
function link(path: string, files: readonly string[], compiler: Compiler, ways: string[][]): number {
  mkdirSync(dirname(path), { recursive: true });
  const sources = files.filter((name) => name.endsWith(".c"));
  const draft = `${path}.${process.pid}`; // renamed at the end, because a running program cannot be overwritten
  const compile = (how: string[]) =>
    spawnSync(compiler.command, [...FLAGS, ...how, "-o", draft, ...sources], { encoding: "utf8" });
  let index = 0;
  let built = compile(ways[index] ?? []);
  while (built.status !== 0 && index < ways.length - 1) built = compile(ways[++index] ?? []);
  if (built.status !== 0) {
    rmSync(draft, { force: true });
    throw new Error(explainFailure(compiler, built, path));
  }
  renameSync(draft, path);
  return index;
}

function explainFailure(
  { command, debian }: Compiler,
  { error, stderr }: ReturnType<typeof spawnSync>,
  product: string,
): string {
  const isMissing = error !== undefined || /fatal error: .*\.h|cannot find -lc/.test(String(stderr));
  const remedy = `install a C compiler and the C library's headers: apt-get install ${debian}`;
  return isMissing ? `"${command}" cannot compile ${product}; ${remedy}\n${error ?? stderr}` : String(stderr);
}

/** The type of the ELF segment that names the dynamic linker. @see elf(5) */
const PT_INTERP = 3;

/** Whether an ELF program needs no dynamic linker: it names none. */
export function isStatic(path: string): boolean {
  const bytes = readFileSync(path);
  const start = Number(bytes.readBigUInt64LE(32));
  const size = bytes.readUInt16LE(54);
  const count = bytes.readUInt16LE(56);
  const types = Array.from({ length: count }, (_, index) => bytes.readUInt32LE(start + index * size));
  return !types.includes(PT_INTERP);
}
