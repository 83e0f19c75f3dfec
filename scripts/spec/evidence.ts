import path from "node:path";
import { glob } from "zx";
import { MUTANTS } from "../../fixtures/mutants.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Whether a mutant has this name, or a test or a folder of tests, such as `test/core/protocol/admission` or `test/safety/queues`. */
export async function isEvidence(name: string): Promise<boolean> {
  if (name in MUTANTS) return true;
  if (!name.startsWith("test/")) return false;
  return (
    (await glob([`${name}.test.ts`, `${name}.long.test.ts`, `${name}/**/*.test.ts`], { cwd: ROOT })).length >
    0
  );
}
