// Builds dist/, the contents of the package: first the native programs, then the bundles. `node scripts/build.ts`
// With `--natives x64,arm64`, the native programs for these processors instead of those for this machine, and static.
// With `--quiet`, one line instead of a list of the files, for commands that build first.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { ALL_COMMANDS } from "../src/bin/commands.ts";
import { SCRIPTS } from "../src/cli/frame/completion/completion.impl.ts";
import { VERSION } from "../src/core/base/version.ts";
import { NO_DEBUGGER } from "../src/core/process/node-options.ts";
import { cacheCode } from "./build/code-cache.ts";
import { adaptInkModules } from "./build/ink-modules.ts";
import { collectLicences } from "./build/licences.ts";
import { buildOwnNatives, buildPackagedNatives, parseArchitectures } from "./build/native.ts";
import { findNewerSource, isReadOnly } from "./build/read-only.ts";
import { writeTypes } from "./build/types.ts";

import { renderManualPages } from "./docs/roff.ts";

const { values } = parseArgs({ options: { natives: { type: "string" }, quiet: { type: "boolean" } } });
const root = resolve(import.meta.dirname, "..");
const resolvePath = (...parts: string[]) => join(root, ...parts);

interface Bundle {
  entry: string;
  product: string;
  /**
   * `starter`: a CommonJS module that loads the others. `function`: a function expression that another program calls. `esm`:
   * an ES module. `script`: an ES module that a shell can start. `console`: a CommonJS module with Ink. Default: a CommonJS
   * module.
   */
  form?: "starter" | "function" | "esm" | "script" | "console";
  /** Imports that are left out of the bundle. */
  without?: string[];
}

/** Each bundle has its own copy of all classes, so an error of one bundle is not a `SignalboxError` in another. */
const bundles: Bundle[] = [
  { entry: "src/bin/run.ts", product: "dist/run.cjs", form: "function" },
  { entry: "src/bin/front.ts", product: "dist/front.cjs", form: "function" },
  { entry: "src/bin/start.ts", product: "dist/signalbox.cjs", form: "starter" },
  { entry: "src/bin/full.ts", product: "dist/full.cjs" },
  { entry: "src/bin/agent.ts", product: "dist/agent.cjs" },
  { entry: "src/bin/agent-socket.ts", product: "dist/agent-socket.cjs" },
  { entry: "src/bin/console.ts", product: "dist/console.cjs", form: "console" },
  { entry: "src/bin/task-host.ts", product: "dist/task-host.mjs", form: "esm" },
  { entry: "src/library/index.ts", product: "dist/library.mjs", form: "esm" },
  { entry: "src/bin/complete.ts", product: "dist/complete.cjs", without: ["*.impl.ts"] },
  ...["evacuate", "freeze", "rolling", "thaw"].map(
    (name): Bundle => ({
      entry: `scripts/maintenance/${name}.ts`,
      product: `dist/maintenance/${name}.mjs`,
      form: "script",
    }),
  ),
];

/**
 * Large packages that only a few commands use. In the CommonJS bundles, they would slow down the start of all other
 * commands, so each is a file in dist/modules/ that is loaded when it is used.
 */
const SELDOM = ["yaml", "jsonc-parser", "prom-client", "cron-parser", "ical.js"];
/** The same for a file of ours with its packages. Of their ES modules, a fifth is enough. */
const SELDOM_SOURCE = { name: "opentelemetry", entry: "src/core/process/opentelemetry.ts" };
const useModules: Plugin = {
  name: "use-modules",
  setup: ({ onLoad, onResolve }) => {
    // Most commands know schedules, and few read a cron text: the package is loaded with the first one, which saves 10 ms of a start.
    onResolve({ filter: /^cron-parser$/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "when-used" } : undefined,
    );
    onLoad({ filter: /./, namespace: "when-used" }, ({ path }) => ({
      contents: `exports.__esModule = true;
Object.defineProperty(exports, "CronExpressionParser", { enumerable: true, get: () => require("${path}").CronExpressionParser });`,
    }));
    onResolve({ filter: new RegExp(`^(${SELDOM.join("|").replaceAll(".", "\\.")})$`) }, ({ path }) => ({
      path: `./modules/${path}.cjs`,
      external: true,
    }));
    onResolve({ filter: /\/opentelemetry\.ts$/ }, () => ({
      path: `./modules/${SELDOM_SOURCE.name}.cjs`,
      external: true,
    }));
  },
};
/**
 * Packages that stay in node_modules: etcd3 reads its own .proto files at run time and has the other ones of its transport, and
 * programs that trace have their own copy of OpenTelemetry, which must be the same one.
 */
const external = ["etcd3", "@grpc/grpc-js", "cockatiel", "protobufjs", "@opentelemetry/api"];

/** All files that are part of a bundle. */
const bundled = new Set<string>();

function report(product: string, note = ""): void {
  if (values.quiet) return;
  const kib = (statSync(resolvePath(product)).size / 1024).toFixed(0);
  console.log(`${product.padEnd(27)} ${kib.padStart(6)} KiB${note && `  ${note}`}`);
}

/** Files of packages to bundle instead of the usual ones, which hide their imports. */
const BUNDLED_FORMS = { "jsonc-parser": "jsonc-parser/lib/esm/main.js" };
/** CommonJS, because the `import` of a builtin in an ES module evaluates lazy getters, and takes ten times as long as `require`. */
const COMMONJS: BuildOptions = {
  format: "cjs",
  supported: { "dynamic-import": false }, // `import()` becomes `require`, for the same reason
  define: { "import.meta.dirname": "__dirname", "import.meta.filename": "__filename" },
};
/** The starter loads one of the other bundles. One of them is an ES module, so it needs `import()`. */
const STARTER: BuildOptions = { ...COMMONJS, supported: {} };
const CONSOLE: BuildOptions = {
  ...COMMONJS,
  jsx: "automatic",
  minifySyntax: true, // names stay as they are, for the traces of errors
  minifyWhitespace: true,
  define: { ...COMMONJS.define, "process.env.NODE_ENV": '"production"' },
};
const ESM: BuildOptions = {
  format: "esm",
  alias: BUNDLED_FORMS,
  banner: {
    js: `import { createRequire as makeRequire } from "node:module";
if (Promise.withResolvers === undefined)
  throw new Error("signalbox needs Node.js 22 or later; this is Node.js " + process.versions.node);
const require = makeRequire(import.meta.url);`,
  },
};

/**
 * The first lines of a script, which are valid for a shell and in JavaScript: with `#!/usr/bin/env`, not every system can pass
 * an option to Node.
 */
const SCRIPT_START = `#!/bin/sh\n":" //; exec node ${NO_DEBUGGER} "$0" "$@"`;

function getFormOptions(form: Bundle["form"]): BuildOptions {
  switch (form) {
    case "script":
      return { format: "esm" };
    case "esm":
      return ESM;
    case "starter":
      return STARTER;
    case "console":
      return CONSOLE;
    default:
      return COMMONJS;
  }
}

async function buildBundle({ entry, product, form, without = [] }: Bundle): Promise<void> {
  const { outputFiles, metafile } = await build({
    entryPoints: [resolvePath(entry)],
    outfile: resolvePath(product),
    bundle: true,
    write: false,
    platform: "node",
    target: "node22",
    ...getFormOptions(form),
    external: [...external, ...without],
    // An ES module loads all its static imports before it runs, so such a bundle contains these packages.
    plugins:
      form === "esm" || form === "script"
        ? []
        : [useModules, ...(form === "console" ? [adaptInkModules] : [])],
    logLevel: "warning",
    metafile: true,
  });
  for (const file of Object.keys(metafile.inputs)) bundled.add(file);
  const text = escapeOthers(outputFiles?.[0]?.text ?? "");
  if (form === "function") replace(product, wrapInFunction(product, text));
  else if (form === "script") replace(product, text.replace(/^#!.*/, SCRIPT_START), 0o755);
  else replace(product, text);
  report(product, form === "function" ? await cacheCode(resolvePath(product)) : "");
}

/** Builds a file that exports what a package exports, or an entry of ours. */
async function buildModule(name: string, entry?: string): Promise<void> {
  const { outputFiles, metafile } = await build({
    ...(entry === undefined
      ? { stdin: { contents: `module.exports = require(${JSON.stringify(name)});`, resolveDir: root } }
      : { entryPoints: [resolvePath(entry)], mainFields: ["module", "main"] }),
    bundle: true,
    write: false,
    platform: "node",
    target: "node22",
    format: "cjs",
    alias: BUNDLED_FORMS,
    logLevel: "warning",
    metafile: true,
  });
  for (const file of Object.keys(metafile.inputs)) bundled.add(file);
  mkdirSync(resolvePath("dist/modules"), { recursive: true });
  replace(`dist/modules/${name}.cjs`, escapeOthers(outputFiles?.[0]?.text ?? ""));
  report(`dist/modules/${name}.cjs`);
}

/**
 * Escapes the characters that are not ASCII, which esbuild leaves in regular expressions and comments: V8 keeps the text of a bundle, with two
 * bytes for each character if a single one needs them.
 */
function escapeOthers(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
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

/** Lets the launcher of a clone start the clone's Node. Other installations bring one, or use that of the PATH. */
function linkOwnNode(): void {
  const draft = resolvePath(`dist/node.${process.pid}`);
  symlinkSync("../node_modules/.bin/node", draft);
  renameSync(draft, resolvePath("dist/node"));
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
  if (!values.quiet) console.log("dist/ cannot be written; it is up to date");
}

async function buildAll(): Promise<void> {
  if (values.quiet) console.log("builds signalbox, in about 8 seconds …");
  for (const name of ["maintenance", "man"]) mkdirSync(resolvePath("dist", name), { recursive: true });
  if (values.natives === undefined) {
    buildOwnNatives(root, report);
    linkOwnNode();
  } else {
    buildPackagedNatives(root, parseArchitectures(values.natives), report);
    rmSync(resolvePath("dist/node"), { force: true });
  }
  for (const name of SELDOM) await buildModule(name);
  await buildModule(SELDOM_SOURCE.name, SELDOM_SOURCE.entry);
  for (const bundle of bundles) await buildBundle(bundle);
  replace("dist/signalbox", readFileSync(resolvePath("scripts/build/signalbox.sh"), "utf8"), 0o755);
  report("dist/signalbox", "starts the launcher for this processor");
  const pages = renderManualPages(ALL_COMMANDS, VERSION);
  for (const [name, page] of pages) replace(`dist/man/${name}.1`, page);
  report("dist/man", `${pages.size} files`);
  replace("dist/licences.txt", collectLicences(root, bundled));
  report("dist/licences.txt", "of the packages in the bundles");
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
