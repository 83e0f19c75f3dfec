// Builds dist/, the contents of the package: first the native programs, then the bundles. `node scripts/build.ts`
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { VERSION } from "../src/base/version.ts";
import { ALL_COMMANDS } from "../src/bin/commands.ts";
import { SCRIPTS } from "../src/commands/completion/scripts.ts";
import { cacheCode } from "./build/code-cache.ts";
import { findNewerSource, isReadOnly } from "./build/read-only.ts";
import { writeTypes } from "./build/types.ts";
import { renderManualPage } from "./docs/roff.ts";

const root = resolve(import.meta.dirname, "..");
const resolvePath = (...parts: string[]) => join(root, ...parts);

interface Bundle {
  entry: string;
  product: string;
  /**
   * `program`: an executable with a shebang. `function`: a function expression that another program calls. `esm`: an ES
   * module, which Ink needs. Default: a CommonJS module.
   */
  form?: "program" | "function" | "esm";
  /** Imports that are left out of the bundle. */
  without?: string[];
}

/** Each bundle has its own copy of all classes, so an error of one bundle is not a `SignalboxError` in another. */
const bundles: Bundle[] = [
  { entry: "src/bin/run.ts", product: "dist/run.cjs", form: "function" },
  { entry: "src/bin/front.ts", product: "dist/front.cjs", form: "function" },
  { entry: "src/bin/start.ts", product: "dist/signalbox.cjs", form: "program" },
  { entry: "src/bin/full.ts", product: "dist/full.cjs" },
  { entry: "src/bin/console.ts", product: "dist/console.mjs", form: "esm" },
  { entry: "src/bin/task-host.ts", product: "dist/task-host.mjs", form: "esm" },
  { entry: "src/library/index.ts", product: "dist/library.mjs", form: "esm" },
  { entry: "src/bin/complete.ts", product: "dist/complete.cjs", without: ["*.impl.ts"] },
];

/** Large packages that only a few commands use. In the bundle, they would slow down the start of all other commands. */
const SELDOM = ["yaml", "jsonc-parser", "prom-client", "cron-parser"];
/** Packages of these that are imported statically. An ES module loads all its imports before it runs, so it contains them. */
const STATIC = ["yaml", "jsonc-parser"];
/** Packages that read their own files at run time (etcd3: .proto), so they stay in node_modules. */
const external = ["etcd3"];

/** Programs in C: the guardian, which ends commands, and the notifier for systemd. */
const natives = [
  { folder: "src/process/guardian", product: "dist/guardian" },
  { folder: "src/process/notify", product: "dist/notify" },
];
type Native = (typeof natives)[number];
const flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-s"];

function report(product: string, note = ""): void {
  const kib = (statSync(resolvePath(product)).size / 1024).toFixed(0);
  console.log(`${product.padEnd(20)} ${kib.padStart(6)} KiB${note && `  ${note}`}`);
}

function findNewest(paths: string[]): number {
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}

function compile(cc: string, sources: string[], to: string, link: string[]): ReturnType<typeof spawnSync> {
  return spawnSync(cc, [...flags, ...link, "-o", to, ...sources], { encoding: "utf8" });
}

function buildNative(native: Native): void {
  const files = readdirSync(resolvePath(native.folder)).map((name) => resolvePath(native.folder, name));
  const product = resolvePath(native.product);
  if (existsSync(product) && statSync(product).mtimeMs >= findNewest([...files, import.meta.filename]))
    report(native.product, "up to date");
  else linkNative(native, files);
}

/** A static program starts a third faster, and ignores an LD_PRELOAD meant for the command. Without libc.a, it is linked dynamically. */
function linkNative({ product }: Native, files: string[]): void {
  const cc = process.env.CC || "cc";
  const sources = files.filter((name) => name.endsWith(".c"));
  const draft = resolvePath(`${product}.${process.pid}`); // renamed at the end, because a running program cannot be overwritten
  const fixed = compile(cc, sources, draft, ["-static"]);
  const built = fixed.status === 0 ? fixed : compile(cc, sources, draft, []);
  if (built.status !== 0) {
    rmSync(draft, { force: true });
    throw new Error(explain(cc, built, product));
  }
  renameSync(draft, resolvePath(product));
  report(product, fixed.status === 0 ? "static" : "dynamic: libc.a is missing");
}

function explain(cc: string, { error, stderr }: ReturnType<typeof spawnSync>, product: string): string {
  const missing = error !== undefined || /fatal error: .*\.h/.test(String(stderr));
  const remedy = "install a C compiler and the C library's headers: apt-get install gcc libc6-dev";
  return missing ? `"${cc}" cannot compile ${product}; ${remedy}\n${error ?? stderr}` : String(stderr);
}

/** CommonJS, because the `import` of a builtin in an ES module evaluates lazy getters, and takes ten times as long as `require`. */
const COMMONJS: BuildOptions = {
  format: "cjs",
  supported: { "dynamic-import": false }, // `import()` becomes `require`, for the same reason
  define: { "import.meta.dirname": "__dirname", "import.meta.filename": "__filename" },
};
/** The starter loads one of the other bundles. One of them is an ES module, so it needs `import()`. */
const STARTER: BuildOptions = { ...COMMONJS, supported: {} };
const ESM: BuildOptions = {
  format: "esm",
  jsx: "automatic",
  alias: {
    "react-devtools-core": resolvePath("scripts/build/no-devtools.ts"),
    "jsonc-parser": "jsonc-parser/lib/esm/main.js", // its other form cannot be bundled: it hides its imports
  },
  define: { "process.env.NODE_ENV": '"production"' },
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module";\nconst require = makeRequire(import.meta.url);',
  },
};

async function buildBundle({ entry, product, form, without = [] }: Bundle): Promise<void> {
  const { outputFiles = [] } = await build({
    entryPoints: [resolvePath(entry)],
    outfile: resolvePath(product),
    bundle: true,
    write: false,
    platform: "node",
    target: "node22",
    ...(form === "esm" ? ESM : form === "program" ? STARTER : COMMONJS),
    external: [...external, ...without, ...SELDOM.filter((name) => form !== "esm" || !STATIC.includes(name))],
    logLevel: "warning",
  });
  const text = outputFiles[0]?.text ?? "";
  if (form === "function") replace(product, wrapInFunction(product, text));
  else
    replace(
      product,
      form === "program" ? `#!/usr/bin/env node\n${text}` : text,
      form === "program" ? 0o755 : undefined,
    );
  report(product, form === "function" ? await cacheCode(resolvePath(product)) : "");
}

/** Wraps a bundle in a function. Its first line names the file with the compiled code of exactly this text. */
function wrapInFunction(product: string, text: string): string {
  const body = `(function (require, __filename, __dirname) {\n${text}})\n`;
  return `//${basename(product, ".cjs")}-${createHash("sha256").update(body).digest("hex").slice(0, 16)}\n${body}`;
}

/** Replaces a file atomically, because another process may start it at this moment. */
function replace(product: string, text: string, mode = 0o644): void {
  const draft = resolvePath(`${product}.${process.pid}`);
  writeFileSync(draft, text, { mode });
  renameSync(draft, resolvePath(product));
}

/** Writes the completion scripts with the file names that the shells expect. */
function writeCompletions(): void {
  const names = { bash: "signalbox", zsh: "_signalbox", fish: "signalbox.fish" };
  for (const [shell, name] of Object.entries(names)) {
    const product = `dist/completions/${shell}/${name}`;
    mkdirSync(resolvePath(dirname(product)), { recursive: true });
    replace(product, SCRIPTS[shell] ?? "");
  }
}

/** @throws Error if the products are outdated */
function checkBuilt(): void {
  const newer = findNewerSource(root, resolvePath("dist/types/library/index.d.ts"));
  if (newer !== undefined)
    throw new Error(`dist/ cannot be written, and ${relative(root, newer)} is newer than the last build`);
  console.log("dist/ cannot be written; it is up to date");
}

async function buildAll(): Promise<void> {
  mkdirSync(resolvePath("dist"), { recursive: true });
  for (const native of natives) buildNative(native);
  for (const bundle of bundles) await buildBundle(bundle);
  replace("dist/signalbox.1", renderManualPage(ALL_COMMANDS, VERSION));
  report("dist/signalbox.1");
  writeCompletions();
  report("dist/types", `${writeTypes(root)} files`);
}

try {
  if (isReadOnly(resolvePath("dist"))) checkBuilt();
  else await buildAll();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
