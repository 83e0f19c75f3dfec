/**
 * Checks the rules for names (CONTRIBUTING.md): the share of functions that begin with a verb or a predicate, and exported
 * names that exist more than once or are aliases. `npm run names` prints all violations; with `--check` it fails if there are too many.
 */
import { readFileSync } from "node:fs";
import { glob } from "zx";
import { findDeclarations } from "./names/declarations.ts";
import { VERBS } from "./names/verbs.ts";

/** Minimum share of functions and methods that begin with a verb or a predicate. */
const LEAST = 0.85;
/** Names that every module of a kind exports, with the same meaning. */
const CONTRACTS = new Set(["execute", "perform", "bytes", "openMembers"]);

interface Offender {
  place: string;
  name: string;
}

const isChecking = process.argv.includes("--check");
const offenders: Offender[] = [];
const aliases: Offender[] = [];
const exported = new Map<string, string[]>();
let functions = 0;

for (const path of (await glob(["{src,fixtures,scripts,test}/**/*.{ts,tsx}"])).toSorted()) {
  const source = readFileSync(path, "utf8");
  const found = findDeclarations(source, path.endsWith("x"));
  for (const { name, offset } of found.functions) {
    functions += 1;
    const line = Buffer.from(source).subarray(0, offset).toString().split("\n").length;
    if (!isGoodName(name, path)) offenders.push({ place: `${path}:${line}`, name });
  }
  aliases.push(...found.aliases.map((name) => ({ place: path, name })));
  if (path.startsWith("src/"))
    for (const name of new Set(found.exports)) exported.set(name, [...(exported.get(name) ?? []), path]);
}

const share = 1 - offenders.length / functions;
const repeated = [...exported].filter(([name, paths]) => paths.length > 1 && !CONTRACTS.has(name));
const isEnough = share >= LEAST && repeated.length === 0 && aliases.length === 0;
if (!isChecking || share < LEAST)
  for (const { place, name } of offenders) console.log(`${place}: ${name} does not begin with a verb`);
for (const { place, name } of aliases) console.log(`${place}: ${name} is a second name of an export`);
for (const [name, paths] of repeated) console.log(`${name} is exported more than once: ${paths.join(", ")}`);
console.log(
  `${(100 * share).toFixed(1)} % of ${functions} functions begin with a verb or a predicate (at least ${100 * LEAST} %); ` +
    `${repeated.length} exported names exist more than once; ${aliases.length} are second names`,
);
if (isChecking && !isEnough) process.exitCode = 1;

/** Whether a function has a good name. React components are nouns. */
function isGoodName(name: string, path: string): boolean {
  if (path.endsWith("x") && /^[A-Z]/.test(name)) return true;
  const [first = name] = /^[a-z]+/.exec(name) ?? [];
  return VERBS.has(first);
}
