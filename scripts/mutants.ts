import { MUTANTS } from "../fixtures/mutants.ts";
import { tryMutant } from "../fixtures/try-mutant.ts";
import { readArguments, readNumber, refuseArguments } from "./arguments.ts";

const HELP = `npm run mutants -- [NAME…] [--count N] [--history]

Removes one rule of the protocol at a time from the code, and checks that the simulation detects it.

  --count N   most schedules to play for each (default: 50000)
  --history   only what the histories of claims show counts`;

const { values, positionals } = readArguments(HELP, {
  count: { type: "string", default: "50000" },
  history: { type: "boolean" },
});
const count = readNumber(HELP, "count", values.count);
const known = Object.keys(MUTANTS);
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) refuseArguments(HELP, `unknown mutant: ${unknown.join(", ")}`);
const names = positionals.length > 0 ? positionals : known;

for (const name of names) {
  const { isNoticed, evidence } = await tryMutant(name, count, values.history);
  console.log(`${isNoticed ? "noticed " : "SURVIVED"}  ${name}: ${evidence}`);
  if (!isNoticed) process.exitCode = 1;
}
