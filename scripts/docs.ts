// Writes docs/commands.md from the declarations of the commands. `npm run docs`; with --check, only says whether it is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { COMMANDS } from "../src/commands/registry.ts";
import { commandsPage } from "./docs/markdown.ts";

const path = resolve(import.meta.dirname, "../docs/commands.md");
const page = commandsPage(COMMANDS);
const isStale = read() !== page;

if (!process.argv.includes("--check")) writeFileSync(path, page);
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
