import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Plugin, transform } from "esbuild";

const SOURCES = resolve(import.meta.dirname, "../../src");
/** It waits for React's developer tools while it is loaded, if they are asked for. */
const RECONCILER = /\/ink\/build\/reconciler\.js$/;
/** It would decode its WebAssembly with `fetch`, for which Node loads an HTTP client: a tenth of a second. */
const WEB_ASSEMBLY = /\/yoga-layout\/dist\/binaries\/[^/]+\.js$/;
/** Modules with other contents. */
const REPLACED: Readonly<Record<string, string>> = {
  // Rows are cut by the same measure, and the regular expression of string-width for emoji takes 20 ms to compile.
  "string-width": 'export { computeStyledWidth as default } from "./core/base/display-width.ts";',
  // It would load node:child_process, to ask tput for a size that the console passes on.
  "terminal-size":
    "export default () => ({ columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 });",
};
/** Its regular expressions and its segmenter take 5 ms to create, and only wrapped texts need them. */
const LAZY_WRAP = 'export default (...words) => require("wrap-ansi").default(...words);';
/** It loads node:assert for one check of its argument. */
const SIGNAL_EXIT = /\/signal-exit\/index\.js$/;

/** Changes modules of Ink that wait while they are loaded, which a CommonJS bundle cannot, or that load slowly. */
export const adaptInkModules: Plugin = {
  name: "adapt-ink-modules",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^yoga-layout$/ }, () => ({ path: `${SOURCES}/bin/layout-engine.ts` }));
    onResolve({ filter: new RegExp(`^(${Object.keys(REPLACED).join("|")})$`) }, ({ path }) => ({
      path,
      namespace: "replaced",
    }));
    onLoad({ filter: /./, namespace: "replaced" }, ({ path }) => ({
      contents: REPLACED[path] ?? "",
      resolveDir: SOURCES,
    }));
    onResolve({ filter: /^wrap-ansi$/ }, ({ path, namespace, resolveDir }) =>
      namespace === "lazy" ? undefined : { path, namespace: "lazy", pluginData: resolveDir },
    );
    onLoad({ filter: /./, namespace: "lazy" }, ({ pluginData }) => ({
      contents: LAZY_WRAP,
      resolveDir: pluginData,
    }));
    onLoad({ filter: SIGNAL_EXIT }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace("require('assert')", "{ equal() {} }"),
    }));
    onLoad({ filter: RECONCILER }, async ({ path }) => {
      const text = (await readFile(path, "utf8")).replaceAll("process.env['DEV'] === 'true'", "false");
      const { code } = await transform(text, { minifySyntax: true }); // removes what is never run
      return { contents: code };
    });
    onLoad({ filter: WEB_ASSEMBLY }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { define: { fetch: "undefined" } });
      return { contents: code };
    });
  },
};
