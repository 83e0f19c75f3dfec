// Writes docs/commands.md from the declarations of the commands, and docs/library-api.md from the types of the library:
// `npm run docs`. With --check it only says which of them are stale (exit 1). With a path, it writes or checks that file
// instead of docs/commands.md, and nothing else.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ALL_COMMANDS } from "../src/bin/commands.ts";
import { buildLibraryPage } from "./docs/api/build-library-page.ts";
import { renderCommandsPage } from "./docs/markdown.ts";

const ROOT = resolve(import.meta.dirname, "..");

const { values, positionals } = parseArgs({
  options: { check: { type: "boolean" } },
  allowPositionals: true,
});
const commandsPage = renderCommandsPage(ALL_COMMANDS);
const pages: [name: string, path: string, text: string][] =
  positionals[0] === undefined
    ? [
        ["docs/commands.md", resolve(ROOT, "docs/commands.md"), commandsPage],
        ["docs/library-api.md", resolve(ROOT, "docs/library-api.md"), buildLibraryPage(ROOT)],
      ]
    : [["docs/commands.md", positionals[0], commandsPage]];

for (const [name, path, text] of pages) {
  const isStale = read(path) !== text;
  if (!values.check) writeFileSync(path, text);
  else if (isStale) {
    console.error(`${name} is stale; run: npm run docs`);
    process.exitCode = 1;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
