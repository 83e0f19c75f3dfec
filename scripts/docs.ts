import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { ALL_COMMANDS } from "../src/bin/commands.ts";
import { SITE_SCHEMA } from "../src/cli/commands/configure/site-document.ts";
import { readArguments } from "./arguments.ts";
import { buildLibraryPage } from "./docs/api/build-library-page.ts";
import { renderKeysPage } from "./docs/keys-page.ts";
import { renderCommandsPage } from "./docs/markdown.ts";

const HELP = `node scripts/docs.ts [--check] [FILE]

Writes docs/commands.md from the declarations of the commands, docs/console-keys.md from those of the console's keys,
docs/site.schema.json from those of the document of a site, and docs/library-api.md from the types of the library.

  --check   write nothing, and report which of them are stale (exit code 1)
  FILE      write or check this file instead of docs/commands.md, and nothing else`;

const ROOT = resolve(import.meta.dirname, "..");
const { values, positionals } = readArguments(HELP, { check: { type: "boolean" } });
updatePage("docs/commands.md", renderCommandsPage(ALL_COMMANDS), positionals[0]);
if (positionals[0] === undefined) {
  updatePage("docs/site.schema.json", renderSiteSchema());
  updatePage("docs/console-keys.md", renderKeysPage(ALL_COMMANDS));
  try {
    updatePage("docs/library-api.md", buildLibraryPage(ROOT));
  } catch (error) {
    fail(`cannot generate docs/library-api.md:\n${(error as Error).message}`);
  }
}

/** Renders the JSON Schema of the document of a site, for editors. */
function renderSiteSchema(): string {
  const head = { $schema: "https://json-schema.org/draft/2020-12/schema", title: "a site of signalbox" };
  return `${JSON.stringify({ ...head, ...SITE_SCHEMA }, undefined, 1)}\n`;
}

function updatePage(name: string, text: string, path = resolve(ROOT, name)): void {
  if (!values.check) writeFileSync(path, text);
  else if (read(path) !== text) fail(`${name} is stale; run: npm run docs`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
