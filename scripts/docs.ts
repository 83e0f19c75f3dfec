// Writes docs/commands.md from the declarations of the commands: `npm run docs`. With --check it only says whether that is
// stale (exit 1); with a path, it is that file instead.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ALL_COMMANDS } from "../src/bin/commands.ts";
import { renderCommandsPage } from "./docs/markdown.ts";

const { values, positionals } = parseArgs({
  options: { check: { type: "boolean" } },
  allowPositionals: true,
});
const path = positionals[0] ?? resolve(import.meta.dirname, "../docs/commands.md");
const page = renderCommandsPage(ALL_COMMANDS);
const isStale = read() !== page;

if (!values.check) writeFileSync(path, page);
else if (isStale) {
  console.error("docs/commands.md is stale; run: npm run docs");
  process.exitCode = 1;
}

function read(): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
