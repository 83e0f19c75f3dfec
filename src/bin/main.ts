import { fail, perform } from "../commands/perform.ts";
import type { Command, Surroundings } from "../commands/spec.ts";
import { checkBytes } from "./bytes.ts";

export { fail } from "../commands/perform.ts";

/** Runs one command of this process's command line. @returns the exit code; never throws */
export async function runCommand(
  spec: Command,
  argv: readonly string[],
  world: Surroundings,
): Promise<number> {
  try {
    checkBytes(argv);
  } catch (error) {
    const code = fail(error, world, 0);
    return spec.failure ?? code;
  }
  return await perform(spec, argv, world);
}
