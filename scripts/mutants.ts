/**
 * Removes one rule of the protocol at a time from the code, and checks that the simulation detects it.
 * npm run mutants -- [NAME…] [--count N] [--history]: with it, only what the histories of claims show
 */
import { parseArgs } from "node:util";
import { MUTANTS } from "../fixtures/mutants.ts";
import { tryMutant } from "../fixtures/try-mutant.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string" }, history: { type: "boolean" } },
});
const names = positionals.length > 0 ? positionals : Object.keys(MUTANTS);

for (const name of names) {
  const { isNoticed, evidence } = await tryMutant(name, Number(values.count ?? 50_000), values.history);
  console.log(`${isNoticed ? "noticed " : "SURVIVED"}  ${name}: ${evidence}`);
  if (!isNoticed) process.exitCode = 1;
}
