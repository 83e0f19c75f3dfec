// Builds what is shipped into dist/: the native programs, then the bundles. `node scripts/build.ts`
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
   * `program`: with a shebang, and executable. `function`: an expression, for a program to call. `esm`: a module of today's
   * kind, which Ink needs. Default: a CommonJS module.
   */
  form?: "program" | "function" | "esm";
  /** Loads nothing of these. */
  without?: string[];
}

/** Each stands alone: an error thrown in one would be no `SignalboxError` in another. */
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

/** For few commands, and large: in the bundle they would cost every other command the reading of them. */
const SELDOM = ["yaml", "prom-client", "cron-parser"];
/** Read their own files at run time (etcd3: .proto), so they stay in node_modules. */
const external = ["etcd3"];

/** Programs in C: what ends commands, and what speaks to systemd. */
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

/** Static, it starts a third faster and heeds no LD_PRELOAD meant for the command; without libc.a it is linked as usual. */
function linkNative({ product }: Native, files: string[]): void {
  const cc = process.env.CC || "cc";
  const sources = files.filter((name) => name.endsWith(".c"));
  const draft = resolvePath(`${product}.${process.pid}`); // renamed when done: a running program cannot be overwritten
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

/** CommonJS: an ES module's `import` of a builtin evaluates lazy getters, and costs ten times what `require` does. */
const COMMONJS: BuildOptions = {
  format: "cjs",
  supported: { "dynamic-import": false }, // `import()` of what is lazy becomes `require`, for the same reason
  define: { "import.meta.dirname": "__dirname", "import.meta.filename": "__filename" },
};
/** Starts one of the others, of which one is an ES module. */
const STARTER: BuildOptions = { ...COMMONJS, supported: {} };
const ESM: BuildOptions = {
  format: "esm",
  jsx: "automatic",
  alias: { "react-devtools-core": resolvePath("scripts/build/no-devtools.ts") },
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
    // An ES module loads what it imports before it begins: there yaml, which a file imports by name, stands in the bundle.
    external: [...external, ...without, ...SELDOM.filter((name) => form !== "esm" || name !== "yaml")],
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

/** The first line names the file with V8's code of this very text. */
function wrapInFunction(product: string, text: string): string {
  const body = `(function (require, __filename, __dirname) {\n${text}})\n`;
  return `//${basename(product, ".cjs")}-${createHash("sha256").update(body).digest("hex").slice(0, 16)}\n${body}`;
}

/** As a whole: somebody may be starting it at this moment. */
function replace(product: string, text: string, mode = 0o644): void {
  const draft = resolvePath(`${product}.${process.pid}`);
  writeFileSync(draft, text, { mode });
  renameSync(draft, resolvePath(product));
}

/** Named as the folders want them where packages put them. */
function writeCompletions(): void {
  const names = { bash: "signalbox", zsh: "_signalbox", fish: "signalbox.fish" };
  for (const [shell, name] of Object.entries(names)) {
    const product = `dist/completions/${shell}/${name}`;
    mkdirSync(resolvePath(dirname(product)), { recursive: true });
    replace(product, SCRIPTS[shell] ?? "");
  }
}

/** @throws Error where there is no way to write, and what was built before is outdated */
function checkBuilt(): void {
  const newer = findNewerSource(root, resolvePath("dist/types/library/index.d.ts"));
  if (newer !== undefined)
    throw new Error(
      `dist/ cannot be written, and ${relative(root, newer)} is newer than what was built into it`,
    );
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
