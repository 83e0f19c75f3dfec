/**
 * Checks the specification in spec/ with Spin: the whole models have no violation, and without any of their rules they have one.
 * npm run spec -- [MODEL…] [--large] [--write] [--jobs N]
 */
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { glob } from "zx";
import { readArguments, readNumber } from "./arguments.ts";
import { type Exploration, exploreModel } from "./spec/checker.ts";
import { isEvidence } from "./spec/evidence.ts";
import { findSpin } from "./spec/find-spin.ts";
import { type Model, readModel } from "./spec/model.ts";
import { type ModelReport, replaceRules } from "./spec/rules-page.ts";

const HELP = `npm run spec -- [MODEL…] [--large] [--write] [--jobs N]

Checks the specification in spec/ with Spin: the whole models have no violation, and without any of their rules they have one.

  --large    larger worlds, which take hours
  --write    write the rules and their counter-examples into spec/README.md
  --jobs N   checkers at a time (default: the number of processors)`;

const { values, positionals } = readArguments(HELP, {
  large: { type: "boolean" },
  write: { type: "boolean" },
  jobs: { type: "string", default: String(availableParallelism()) },
});
const ROOT = path.resolve(import.meta.dirname, "..");
const FOLDER = path.join(ROOT, "spec");
const PAGE = path.join(FOLDER, "README.md");

/** Work of a checker, which prints what it has found. */
type Job = () => Promise<void>;

const spin = await findSpin();
const models = await readModels();
const jobs = readNumber(HELP, "jobs", values.jobs);
const startedAt = performance.now();
await (values.large ? checkLarge() : checkSmall());
console.log(`${((performance.now() - startedAt) / 1000).toFixed(0)} s`);

async function readModels(): Promise<Model[]> {
  const files = (await glob("*.pml", { cwd: FOLDER, absolute: true })).filter(
    (file) => path.basename(file) !== "common.pml",
  );
  const all = await Promise.all(files.sort().map(readModel));
  const unknown = positionals.find((name) => all.every((model) => model.name !== name));
  if (unknown !== undefined)
    throw new Error(
      `there is no model ${unknown} in spec/; there are ${all.map(({ name }) => name).join(", ")}`,
    );
  for (const model of all) await checkEvidence(model);
  return all.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
}

/** Checks that what a model names as evidence for its rules exists: mutants and tests. */
async function checkEvidence({ name, rules }: Model): Promise<void> {
  for (const { id, shownBy } of rules)
    for (const evidence of shownBy)
      if (!(await isEvidence(evidence)))
        throw new Error(`${name}, rule ${id}: there is no mutant or test ${evidence}`);
}

/** Explores the large worlds of the whole models. */
async function checkLarge(): Promise<void> {
  const work = models.flatMap((model) =>
    model.large.map((world) => async () => {
      await exploreWhole(model, world, true);
    }),
  );
  await runJobs(work, 1);
}

/** Explores the small worlds, then looks for a violation without each rule, and compares spec/README.md. */
async function checkSmall(): Promise<void> {
  const reports = models.map((model) => ({ model, whole: new Map(), without: new Map() }));
  const work = reports.flatMap(({ model, whole, without }) => [
    ...model.small.map((world) => async () => {
      whole.set(world, await exploreWhole(model, world, false));
    }),
    ...model.rules.map((rule) => async () => {
      const defines = [`-DWITHOUT_${rule.id}`, ...rule.world];
      const found = await exploreModel(spin, model.file, { defines, isBroken: true, isLarge: false });
      without.set(rule, found);
      const violation = found.counterExample?.at(-1);
      report(violation !== undefined, `${model.name} without ${rule.id}`, violation ?? "no violation", found);
    }),
  ]);
  await runJobs(work, jobs);
  if (process.exitCode === undefined && positionals.length === 0)
    await comparePage(
      reports.map(({ model, whole, without }) => ({
        model,
        whole: model.small.map((world) => ({ world, exploration: whole.get(world) })),
        without,
      })),
    );
}

async function exploreWhole(model: Model, world: readonly string[], isLarge: boolean): Promise<Exploration> {
  const found = await exploreModel(spin, model.file, { defines: world, isBroken: false, isLarge });
  const { counterExample = ["no violation"] } = found;
  const name = [model.name, ...world].join(" ");
  report(found.counterExample === undefined, name, counterExample.join("\n  "), found);
  return found;
}

function report(isGood: boolean, name: string, outcome: string, found: Exploration): void {
  const { states, seconds, memory } = found;
  const cost = `${states.toLocaleString("en")} states, ${seconds.toFixed(1)} s, ${memory.toFixed(0)} MB`;
  console.log(`${isGood ? "ok    " : "FAILED"}  ${name}: ${outcome} (${cost})`);
  if (!isGood) process.exitCode = 1;
}

/** Does all jobs, a few at the same time. */
async function runJobs(work: readonly Job[], atOnce: number): Promise<void> {
  const left = [...work];
  const workers = Array.from({ length: atOnce }, async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) await job();
  });
  await Promise.all(workers);
}

async function comparePage(reports: readonly ModelReport[]): Promise<void> {
  const page = await readFile(PAGE, "utf8");
  const made = replaceRules(page, reports);
  if (made === page) return;
  if (values.write) return await writeFile(PAGE, made);
  console.log("FAILED  spec/README.md is out of date: npm run spec -- --write");
  process.exitCode = 1;
}
