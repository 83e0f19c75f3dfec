import { run } from "../commands/run.ts";
import { checkNode, endOnDefects } from "./guardrails.ts";
import { runCommand } from "./main.ts";
import { surroundings } from "./surroundings.ts";

checkNode();
endOnDefects();
// Node's deprecations are for those who write programs: cron would mail them to those who run one.
process.noDeprecation = true;
const argv = process.argv.slice(2);

// Cron starts `run` every minute on every host, so it is all that this bundle holds; the rest is loaded when asked for.
const ending = argv[0] === "run" ? runCommand(run, argv.slice(1), surroundings) : others();
ending.then((code) => process.exit(code));

async function others(): Promise<number> {
  const { runOther } = await import("./full.ts");
  return runOther(argv, surroundings);
}
