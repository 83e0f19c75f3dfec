/**
 * Generates the listings part of docs/json.md, and docs/ls.schema.json, from the schemas in scripts/json-doc:
 * `node scripts/json-doc.ts`. A test fails if they are stale.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { LISTINGS } from "./json-doc/listings.ts";
import { renderListings } from "./json-doc/text.ts";

const DOCS = resolve(import.meta.dirname, "../docs");
const BEGIN = "<!-- made by scripts/json-doc.ts: begin -->";
const END = "<!-- end -->";

/** Builds the generated documents. @returns the contents of the files, by path */
export function buildDocuments(): Record<string, string> {
  const page = resolve(DOCS, "json.md");
  const text = readFileSync(page, "utf8");
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  return {
    [page]: `${before}${BEGIN}\n\n${renderListings()}\n${rest}`,
    [resolve(DOCS, "ls.schema.json")]: `${JSON.stringify(LISTINGS, null, 1)}\n`,
  };
}

if (import.meta.main) for (const [path, text] of Object.entries(buildDocuments())) writeFileSync(path, text);
