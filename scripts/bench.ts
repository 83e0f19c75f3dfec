import { cpus, loadavg, release } from "node:os";
import { readArguments, refuseArguments } from "./arguments.ts";
import { benchmarkAgent } from "./bench/agent.ts";
import { type BenchmarkPart, runOnCluster } from "./bench/bench-cluster.ts";
import { benchmarkChurn } from "./bench/churn.ts";
import { benchmarkConsole } from "./bench/console.ts";
import { benchmarkGrowth, parseSizes, SUBJECT_NAMES } from "./bench/growth.ts";
import { benchmarkHandOff } from "./bench/hand-off.ts";
import { benchmarkJobs } from "./bench/jobs.ts";
import { benchmarkLinks } from "./bench/links.ts";
import { benchmarkMemory } from "./bench/memory.ts";
import { benchmarkPage } from "./bench/page.ts";
import { benchmarkProposals } from "./bench/proposals.ts";
import { benchmarkScale } from "./bench/scale.ts";
import { benchmarkSchedules } from "./bench/schedules.ts";
import { benchmarkSizes } from "./bench/sizes.ts";
import { benchmarkStartUp } from "./bench/start-up.ts";
import { benchmarkSustained } from "./bench/sustained.ts";

const parts: Record<string, BenchmarkPart> = {
  proposals: benchmarkProposals,
  "start-up": benchmarkStartUp,
  "hand-off": benchmarkHandOff,
  memory: benchmarkMemory,
  scale: benchmarkScale,
  console: benchmarkConsole,
  page: benchmarkPage,
  churn: benchmarkChurn,
  links: benchmarkLinks,
  schedules: benchmarkSchedules,
  sustained: benchmarkSustained,
  agent: benchmarkAgent,
  sizes: benchmarkSizes,
  jobs: benchmarkJobs,
};

/** The part that fails if a cost grows too fast. It has an etcd for each of its subjects. */
const GROWTH = "growth";
const names = [...Object.keys(parts), GROWTH];

/** Parts that take minutes. They run only if they are named. */
const LONG: ReadonlySet<string> = new Set(["sustained", "churn", GROWTH, "sizes", "jobs", "page"]);

/** Sizes of the clusters on which a part runs; otherwise one member. */
const sizes: Record<string, readonly number[]> = { agent: [1, 3] };

const HELP = `npm run bench -- [--quick] [--sizes SUBJECT=N,N]… [PART…]

Benchmarks signalbox beside etcdctl lock, flock, bare Node and other programs, on a temporary etcd.
Parts: ${names.join(", ")}
(default: all but ${[...LONG].join(", ")}, which take minutes).

  --quick   fewer repetitions
  --sizes SUBJECT=N,N…
            for ${GROWTH}: measures this subject only, at these sizes; may be repeated. Subjects: ${SUBJECT_NAMES.join(", ")}

${GROWTH} prints the exponents of costs by what is beside them, and ends with 1 if one is too large.`;

const { values, positionals: wanted } = readArguments(HELP, {
  quick: { type: "boolean", default: false },
  sizes: { type: "string", multiple: true, default: [] },
});
const { quick } = values;
const unknown = wanted.filter((word) => !names.includes(word));
if (unknown.length > 0) refuseArguments(HELP, `unknown part: ${unknown.join(", ")}`);
const chosen = parseSizes(values.sizes);
if ("fault" in chosen) refuseArguments(HELP, chosen.fault);

const [load = 0] = loadavg();
console.log(
  `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} processors, load ${load.toFixed(1)}`,
);
if (load > cpus().length / 2)
  console.log("Other programs use the processors: the times will be too long and vary widely.");
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 ? !wanted.includes(name) : LONG.has(name)) continue;
  for (const size of sizes[name] ?? [1]) await runOnCluster(part, quick, size);
}
if (wanted.includes(GROWTH)) {
  const failed = await benchmarkGrowth(chosen);
  for (const what of failed) console.error(`grows too fast: ${what}`);
  if (failed.length > 0) process.exitCode = 1;
}
