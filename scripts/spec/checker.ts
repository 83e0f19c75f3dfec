/** Explores the states of a model with Spin: all of them, or until a promise is broken. */
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runTool } from "../../fixtures/run-tool.ts";

/** What an exploration has found. */
export interface Exploration {
  /** Number of different states. */
  states: number;
  seconds: number;
  /** Resident memory, MB. */
  memory: number;
  /** The events that lead to the first violation, and the violation last; undefined if there is none. */
  counterExample: readonly string[] | undefined;
}

/** Steps of the longest path. A path that is longer is an error. */
const LONGEST_PATH = 5_000_000;
const STUCK = "nothing goes on: a process waits for ever";

/**
 * @param how.defines   definitions for the preprocessor, such as `-DRUNS=2`
 * @param how.isBroken  a violation is expected: the shortest counter-example is searched
 * @param how.isLarge   it takes minutes
 * @throws Error if the exploration is not complete
 */
export async function exploreModel(
  spin: string,
  file: string,
  how: { defines: readonly string[]; isBroken: boolean; isLarge: boolean },
): Promise<Exploration> {
  const folder = await mkdtemp(path.join(tmpdir(), "spec-"));
  try {
    await copyModels(path.dirname(file), folder);
    const name = path.basename(file);
    const tool = runTool({ cwd: folder });
    await tool`${spin} -a ${how.defines} ${name}`;
    // Breadth first finds a shortest counter-example. Depth first needs less memory.
    const search = how.isBroken ? ["-DBFS"] : ["-DCOLLAPSE"];
    // The compiler takes longer with optimizations than most explorations without.
    const size = how.isLarge ? ["-O2", "-DMEMLIM=24000"] : ["-O0", "-DMEMLIM=4000"];
    await tool`gcc -w -DSAFETY ${size} ${search} -o pan pan.c`;
    const startedAt = performance.now();
    const { stdout } = await runTool({ cwd: folder, nothrow: true })`./pan -m${LONGEST_PATH}`;
    const seconds = (performance.now() - startedAt) / 1000;
    const found = parseReport(stdout, [name, ...how.defines].join(" "));
    const counterExample =
      found.errors === 0 ? undefined : await replayTrail(spin, name, folder, how.defines);
    return { ...found, seconds, counterExample };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyModels(from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter((name) => name.endsWith(".pml"));
  for (const name of names) await copyFile(path.join(from, name), path.join(to, name));
}

/** @throws Error if not all states were explored, though no violation was found */
function parseReport(text: string, what: string): { errors: number; states: number; memory: number } {
  const errors = Number(text.match(/errors: (\d+)/)?.[1] ?? Number.NaN);
  const states = Number(text.match(/^\s*(\S+) states, stored/m)?.[1] ?? Number.NaN);
  const memory = Number(text.match(/([\d.]+)\s+total actual memory usage/)?.[1] ?? Number.NaN);
  const isCut = /max search depth too small|memory limit|out of memory|Search not completed/.test(text);
  if (Number.isNaN(errors) || (errors === 0 && isCut))
    throw new Error(`${what}: not all states were explored:\n${text}`);
  return { errors, states, memory };
}

/** Lists the events on the way to a violation: the lines that the model prints with "> ". */
async function replayTrail(
  spin: string,
  name: string,
  cwd: string,
  defines: readonly string[],
): Promise<string[]> {
  const { stdout } = await runTool({ cwd, nothrow: true })`${spin} -t -T -B ${defines} ${name}`;
  const events = stdout.split("\n").flatMap((line) => (line.startsWith("> ") ? [line.slice(2)] : []));
  return stdout.includes("assertion violated") ? events : [...events, STUCK];
}
