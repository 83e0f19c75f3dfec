/**
 * Takes each rule of the protocol out of the code in turn, and shows that the simulation notices.
 * npm run mutants -- [NAME…] [--count N]
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { MUTANTS } from "../fixtures/mutants.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { count: { type: "string" } } });
const names = positionals.length > 0 ? positionals : Object.keys(MUTANTS);
const count = values.count ?? "20000";

for (const name of names) {
  const args = ["--import", "./fixtures/mutant-hook.ts", "scripts/simulate.ts", "--count", count, "--bail"];
  const env = { ...process.env, SIGNALBOX_MUTANT: name };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  const isNoticed = status === 1 && stdout.includes("seed ");
  const [seed = "", violation = ""] = stdout.split("\n");
  console.log(
    `${isNoticed ? "noticed" : "SURVIVED"}  ${name}: ${isNoticed ? `${seed} ${violation.trim()}` : stderr}`,
  );
  if (!isNoticed) process.exitCode = 1;
}
