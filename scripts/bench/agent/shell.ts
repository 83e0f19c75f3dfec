import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Argv } from "../bench-cluster.ts";

/**
 * Runs a script in bash and returns what it prints. bash starts a process in less time than Node, and reads clocks
 * without starting one, so short commands can be measured.
 */
export async function runScript(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn("bash", ["-c", script], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`a script ended with exit code ${code}`);
  return output;
}

/** Quotes a command line for a script. */
export function quoteArgv(argv: Argv): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}
