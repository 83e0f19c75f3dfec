/** Fuzzes what the programs in C read: `npm run fuzz -- --help`. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  compileTarget,
  FUZZ_TARGETS,
  type FuzzTarget,
  runTarget,
  writeCorpus,
} from "../fixtures/fuzz/fuzz.ts";
import { readArguments, readNumber, refuseArguments } from "./arguments.ts";

const HELP = `npm run fuzz -- [TARGET…] [--seconds N] [--seed S]

Gives changed inputs to what the guardian and the launcher read, with AddressSanitizer, UndefinedBehaviorSanitizer and checks
of what is read. Targets: ${FUZZ_TARGETS.join(", ")} (default: all, side by side).

  --seconds N    processor time of each target (default: 60); 0 only tries the inputs of .cache/fuzz, which repeats a fault
  --seed S       seed of the changes (default: random)

Inputs that reach new code are kept in .cache/fuzz/TARGET. An input with a fault is written there too, and the exit code is 1.`;

const { values, positionals } = readArguments(HELP, {
  seconds: { type: "string", default: "60" },
  seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
});
const CACHE = resolve(import.meta.dirname, "../.cache/fuzz");
const seconds = readNumber(HELP, "seconds", values.seconds);
const seed = readNumber(HELP, "seed", values.seed);

const isTarget = (name: string): name is FuzzTarget => FUZZ_TARGETS.some((target) => target === name);
const unknown = positionals.filter((name) => !isTarget(name));
if (unknown.length > 0) refuseArguments(HELP, `unknown target: ${unknown.join(", ")}`);
await Promise.all((positionals.length === 0 ? FUZZ_TARGETS : positionals.filter(isTarget)).map(fuzz));

async function fuzz(target: FuzzTarget): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-fuzz-"));
  try {
    const corpus = join(CACHE, target);
    writeCorpus(target, corpus);
    const program = compileTarget(target, folder);
    const { summary, report, input } = await runTarget(program, { seconds, seed, corpus, folder });
    if (report === "") return console.log(`${target}: no fault; seed ${seed}: ${summary}`);
    const path = join(corpus, `fault-${seed}`);
    await writeFile(path, input);
    console.log(
      `${target}: a fault with the input ${path}; repeat it: npm run fuzz -- ${target} --seconds 0\n${report}`,
    );
    process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
