import { $ } from "zx";
import type { Argv } from "../bench-cluster.ts";

/**
 * Runs a script in bash and returns what it prints. bash starts a process in less time than Node, and reads clocks
 * without starting one, so short commands can be measured.
 */
export async function runScript(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  return (await $({ env, stdio: ["ignore", "pipe", "inherit"] })`exec bash -c ${script}`).stdout;
}

/** Quotes a command line for a script. */
export function quoteArgv(argv: Argv): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}
