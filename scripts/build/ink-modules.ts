import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Plugin, transform } from "esbuild";

const SOURCES = resolve(import.meta.dirname, "../../src");
/** It waits for React's developer tools while it is loaded, if they are asked for. */
const RECONCILER = /\/ink\/build\/reconciler\.js$/;
/** It would decode its WebAssembly with `fetch`, for which Node loads an HTTP client: a tenth of a second. */
const WEB_ASSEMBLY = /\/yoga-layout\/dist\/binaries\/[^/]+\.js$/;
/** Rows are cut by the same measure, and the regular expression of string-width for emoji takes 20 ms to compile. */
const TEXT_WIDTH = 'export { computeStyledWidth as default } from "./base/display-width.ts";';

/** Changes modules of Ink that wait while they are loaded, which a CommonJS bundle cannot, or that load slowly. */
export const adaptInkModules: Plugin = {
  name: "adapt-ink-modules",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^yoga-layout$/ }, () => ({ path: `${SOURCES}/bin/layout-engine.ts` }));
    onResolve({ filter: /^string-width$/ }, ({ path }) => ({ path, namespace: "replaced" }));
    onLoad({ filter: /./, namespace: "replaced" }, () => ({ contents: TEXT_WIDTH, resolveDir: SOURCES }));
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
