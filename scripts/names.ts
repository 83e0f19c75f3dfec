/**
 * Checks the rules for names (CONTRIBUTING.md): the share of functions that begin with a verb or a predicate, exported
 * names that exist more than once or are aliases, helpers of tests that do not begin with a verb, constants of src whose one
 * word says nothing where they are used, and words that were replaced. `npm run names` prints all violations; with `--check` it fails if there are too many.
 */
import { readFileSync } from "node:fs";
import { glob } from "zx";
import { findDeclarations, type NameInSource } from "./names/declarations.ts";
import { VERBS } from "./names/verbs.ts";

/** Minimum share of functions and methods that begin with a verb or a predicate. */
const LEAST = 0.85;
/** Names that every module of a kind exports, with the same meaning. */
const CONTRACTS = new Set(["execute", "perform", "bytes", "openMembers"]);

/** Words that nothing in src/ is named with, not even a local, by the word for the same thing. */
const REPLACED: Readonly<Record<string, string>> = {
  desk: "context",
  world: "io",
  scene: "viewContext",
  picture: "snapshot",
  stakes: "newTickets",
  sights: "positions",
  prospect: "eligibility",
  pulse: "liveness",
  deed: "action",
  wish: "options",
  errand: "request",
};

/** Words that no test file and no function of test/ and fixtures/ is named with either, by the word for the same thing. */
const REPLACED_IN_TESTS: Readonly<Record<string, string>> = {
  ...REPLACED,
  pictures: "sample-snapshots",
  room: "createClaimFixture",
  stand: "createTicketKey",
  hands: "rows",
  looks: "terminals",
  foresight: "timeline-and-what-if",
  trust: "faults",
  travel: "past-states",
  consequences: "dialog-previews",
  insight: "timeline-and-what-if",
  brood: "process-tree",
};

/** A constant of one word that is a number, or one of the words that say nothing without the comment at the declaration. */
const EMPTY_CONSTANT =
  /^(?:export )?const (?:([A-Z]+)(?::[^=]+)? = \(?[\d.]|(MOST|LEAST|MANY|FEW|NAMED|USUAL|SOON|LATE|APART|SETTLE|PATIENCE|WITHIN|PAUSE|TRIES|LONGEST|NONE|NOTHING)\b)/gm;

interface Offender {
  place: string;
  name: string;
}

const isChecking = process.argv.includes("--check");
const offenders: Offender[] = [];
const aliases: Offender[] = [];
const helpers: Offender[] = [];
const constants: Offender[] = [];
const replaced: (Offender & { word: string })[] = [];
const exported = new Map<string, string[]>();
let functions = 0;

for (const path of (await glob(["{src,fixtures,scripts,test}/**/*.{ts,tsx}"])).toSorted()) {
  const source = readFileSync(path, "utf8");
  const found = findDeclarations(source, path.endsWith("x"));
  const locate = (offset: number) =>
    `${path}:${Buffer.from(source).subarray(0, offset).toString().split("\n").length}`;
  for (const { name, offset } of found.functions) {
    functions += 1;
    if (isGoodName(name, path)) continue;
    offenders.push({ place: locate(offset), name });
    if (isOfTests(path) && found.exports.includes(name)) helpers.push({ place: locate(offset), name });
  }
  aliases.push(...found.aliases.map((name) => ({ place: path, name })));
  if (isOfTests(path)) findReplacedInTests(path, found.functions, locate);
  if (!path.startsWith("src/")) continue;
  for (const { 1: number = "", 2: name = number, index } of source.matchAll(EMPTY_CONSTANT))
    constants.push({ place: locate(index), name });
  for (const name of new Set(found.exports)) exported.set(name, [...(exported.get(name) ?? []), path]);
  for (const { name, offset } of found.identifiers)
    if (Object.hasOwn(REPLACED, name))
      replaced.push({ place: locate(offset), name, word: REPLACED[name] ?? "" });
}

const share = 1 - offenders.length / functions;
const repeated = [...exported].filter(([name, paths]) => paths.length > 1 && !CONTRACTS.has(name));
const isEnough =
  share >= LEAST && [repeated, aliases, helpers, constants, replaced].every((faults) => faults.length === 0);
if (!isChecking || share < LEAST)
  for (const { place, name } of offenders) console.log(`${place}: ${name} does not begin with a verb`);
for (const { place, name } of aliases) console.log(`${place}: ${name} is a second name of an export`);
for (const { place, name } of helpers)
  console.log(`${place}: ${name} is a helper of tests, and does not begin with a verb`);
for (const { place, name } of constants)
  console.log(
    `${place}: ${name} does not say what it is; name it with a noun and its unit, such as ANSWER_TIMEOUT_MS`,
  );
for (const { place, name, word } of replaced) console.log(`${place}: ${name} is called ${word} here`);
for (const [name, paths] of repeated) console.log(`${name} is exported more than once: ${paths.join(", ")}`);
console.log(
  `${(100 * share).toFixed(1)} % of ${functions} functions begin with a verb or a predicate (at least ${100 * LEAST} %); ` +
    `${repeated.length} exported names exist more than once; ${aliases.length} are second names; ` +
    `${helpers.length} helpers of tests do not begin with a verb; ${constants.length} constants do not say what they are; ${replaced.length} are words that were replaced`,
);
if (isChecking && !isEnough) process.exitCode = 1;

/** Whether a function has a good name. React components are nouns. */
function isGoodName(name: string, path: string): boolean {
  if (path.endsWith("x") && /^[A-Z]/.test(name)) return true;
  const [first = name] = /^[a-z]+/.exec(name) ?? [];
  return VERBS.has(first);
}

function isOfTests(path: string): boolean {
  return /^(test|fixtures)\//.test(path);
}

/** Finds replaced words in the path of a file of tests, and in the names of its functions. */
function findReplacedInTests(
  path: string,
  functions: readonly NameInSource[],
  locate: (offset: number) => string,
): void {
  const inPath = path.split(/[/.-]/).map((name) => ({ place: path, name }));
  for (const { place, name } of [
    ...inPath,
    ...functions.map((one) => ({ ...one, place: locate(one.offset) })),
  ])
    if (Object.hasOwn(REPLACED_IN_TESTS, name))
      replaced.push({ place, name, word: REPLACED_IN_TESTS[name] ?? "" });
}
