// Builds what is shipped into dist/: the native guardian, then the bundles. `node scripts/build.ts`
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const at = (...parts: string[]) => join(root, ...parts);

interface Bundle {
  entry: string;
  product: string;
  /** It is a program: with a shebang, and executable. */
  program?: boolean;
}

/** Entries that do not exist yet are passed over. An import of one entry by another becomes one of its product. */
const bundles: Bundle[] = [
  { entry: "src/bin/signalbox.ts", product: "dist/signalbox.cjs", program: true },
  { entry: "src/bin/full.ts", product: "dist/full.cjs" },
];

/** Read their own files at run time (etcd3: .proto), so they stay in node_modules. */
const external = ["etcd3"];

const guardian = {
  folder: "src/process/guardian",
  product: "dist/guardian",
  flags: ["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-s"],
};

function report(product: string, note = ""): void {
  const kib = (statSync(at(product)).size / 1024).toFixed(0);
  console.log(`${product.padEnd(20)} ${kib.padStart(6)} KiB${note && `  ${note}`}`);
}

function newest(paths: string[]): number {
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}

function compile(cc: string, sources: string[], to: string, link: string[]): ReturnType<typeof spawnSync> {
  return spawnSync(cc, [...guardian.flags, ...link, "-o", to, ...sources], { encoding: "utf8" });
}

function buildGuardian(): void {
  const files = readdirSync(at(guardian.folder)).map((name) => at(guardian.folder, name));
  const product = at(guardian.product);
  if (existsSync(product) && statSync(product).mtimeMs >= newest([...files, import.meta.filename]))
    report(guardian.product, "up to date");
  else linkGuardian(files, product);
}

/** Static, it starts a third faster and heeds no LD_PRELOAD meant for the command; without libc.a it is linked as usual. */
function linkGuardian(files: string[], product: string): void {
  const cc = process.env.CC || "cc";
  const sources = files.filter((name) => name.endsWith(".c"));
  const draft = `${product}.${process.pid}`; // renamed when done: a running guardian cannot be overwritten
  const fixed = compile(cc, sources, draft, ["-static"]);
  const built = fixed.status === 0 ? fixed : compile(cc, sources, draft, []);
  if (built.status !== 0) {
    rmSync(draft, { force: true });
    throw new Error(explain(cc, built));
  }
  renameSync(draft, product);
  report(guardian.product, fixed.status === 0 ? "static" : "dynamic: libc.a is missing");
}

function explain(cc: string, { error, stderr }: ReturnType<typeof spawnSync>): string {
  const missing = error !== undefined || /fatal error: .*\.h/.test(String(stderr));
  const remedy = "install a C compiler and the C library's headers: apt-get install gcc libc6-dev";
  return missing ? `"${cc}" cannot compile the guardian; ${remedy}\n${error ?? stderr}` : String(stderr);
}

const entriesToProducts: Plugin = {
  name: "entries-to-products",
  setup({ onResolve }) {
    onResolve({ filter: /\.ts$/ }, ({ path, resolveDir, kind }) => {
      const entry = relative(root, resolve(resolveDir, path));
      const other = kind === "entry-point" ? undefined : bundles.find((bundle) => bundle.entry === entry);
      return other && { path: `./${basename(other.product)}`, external: true };
    });
  },
};

function ownShebang(entry: string): boolean {
  return readFileSync(at(entry), "utf8").startsWith("#!");
}

/** CommonJS: an ES module's `import` of node:http evaluates lazy getters, and costs ten times what `require` does. */
async function buildBundle({ entry, product, program }: Bundle): Promise<void> {
  if (!existsSync(at(entry))) return;
  await build({
    entryPoints: [at(entry)],
    outfile: at(product),
    bundle: true,
    platform: "node",
    target: "node22",
    format: "cjs",
    supported: { "dynamic-import": false }, // `import()` of what is lazy becomes `require`, for the same reason
    define: { "import.meta.dirname": "__dirname", "import.meta.filename": "__filename" },
    banner: program && !ownShebang(entry) ? { js: "#!/usr/bin/env node" } : {},
    external,
    plugins: [entriesToProducts],
    logLevel: "warning",
  });
  if (program) chmodSync(at(product), 0o755);
  report(product);
}

mkdirSync(at("dist"), { recursive: true });
try {
  buildGuardian();
  for (const bundle of bundles) await buildBundle(bundle);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
