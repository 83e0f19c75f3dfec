import { join } from "node:path";
import { type Argv, type BenchCluster, canStart } from "./bench-cluster.ts";
import {
  computeMean,
  computeMedian,
  computeQuantile,
  formatNumber,
  printNote,
  printTable,
} from "./figures.ts";
import { type Cost, measureCost, measurePeakMemory } from "./measure.ts";
import { benchmarkPhases } from "./phases.ts";

/** Targets: at most this many ms longer than bare Node, and this many times as long as `etcdctl lock`. */
const OVER_NODE = 35;
const TIMES_ETCDCTL = 3;
/** Number of warm-up rounds, which are not measured. */
const WARM_UP = 3;

interface Subject {
  what: string;
  argv: Argv;
  costs: Cost[];
  /** Peak resident memory, MiB. */
  peaks: number[];
}

/** Measures time, processor time and memory of a run. The subjects take turns, so that noise affects all in the same way. */
export async function benchmarkStartUp(cluster: BenchCluster): Promise<void> {
  const rounds = cluster.quick ? 10 : 60;
  const subjects = listSubjects(cluster);
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const { argv, costs } of shuffle(subjects)) {
      const cost = measureCost(argv, cluster.env);
      if (round >= 0) costs.push(cost);
    }
  }
  for (let round = 0; round < 5; round += 1)
    for (const { argv, peaks } of subjects) peaks.push(await measurePeakMemory(argv, cluster.env));
  print(subjects, rounds);
  await benchmarkPhases(cluster);
}

function listSubjects(cluster: BenchCluster): Subject[] {
  const buildRunArgv = (...args: string[]) =>
    cluster.buildSignalboxArgv("run", "--lock", "bench-start", ...args, "--", "true");
  const hosts = (cluster.env.SIGNALBOX_ENDPOINTS ?? "").replaceAll("http://", "");
  const subjects: [what: string, argv: Argv][] = [
    ["node -e 0", [process.execPath, "-e", "0"]],
    ["run --lock x -- true", buildRunArgv()],
    ["run --no-history", buildRunArgv("--no-history")],
    [
      "zoo-locked HOSTS /x true",
      cluster.buildSignalboxArgv("zoo-locked", hosts, "/bench-start-front", "true"),
    ],
    ["etcdctl lock x true", cluster.buildEtcdctlArgv("bench-start-etcdctl", "true")],
    ["true", ["true"]],
  ];
  if (canStart("flock"))
    subjects.splice(-2, 0, ["flock x true", ["flock", join(cluster.folder, "x"), "true"]]);
  return subjects.map(([what, argv]) => ({ what, argv, costs: [], peaks: [] }));
}

function shuffle<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

function print(subjects: readonly Subject[], rounds: number): void {
  const node = listWalls(subjects, "node -e 0");
  const etcdctl = listWalls(subjects, "etcdctl lock x true");
  const rows = subjects.map(({ what, costs, peaks }) => {
    const walls = costs.map(({ wall }) => wall);
    const peak = computeMedian(peaks);
    return [
      what,
      ...[
        computeMedian(walls),
        computeQuantile(walls, 0.25),
        computeQuantile(walls, 0.95),
        computeDifference(walls, node),
      ].map((ms) => formatNumber(ms)),
      `${formatNumber(computeRatio(walls, etcdctl), 2)}x`,
      formatNumber(computeMean(costs.map(({ cpu }) => cpu))),
      formatNumber(peak < 1 ? undefined : peak), // the process ended before it could be read
    ];
  });
  const head = ["", "median ms", "p25", "p95", "over node", "to etcdctl", "cpu ms", "peak MiB"];
  printTable(`An uncontended run, ${rounds} rounds`, head, rows);
  printNote("over node, to etcdctl: medians of the differences and of the ratios in each round");
  printVerdict(listWalls(subjects, "run --lock x -- true"), node, etcdctl);
}

function listWalls(subjects: readonly Subject[], wanted: string): number[] {
  return subjects.find(({ what }) => what === wanted)?.costs.map(({ wall }) => wall) ?? [];
}

/** The times of one round were measured one after the other, so noise affected them in the same way. */
function computeDifference(walls: readonly number[], base: readonly number[]): number {
  return computeMedian(walls.map((wall, round) => wall - (base[round] ?? Number.NaN)));
}

function computeRatio(walls: readonly number[], base: readonly number[]): number {
  return computeMedian(walls.map((wall, round) => wall / (base[round] ?? Number.NaN)));
}

function printVerdict(run: readonly number[], node: readonly number[], etcdctl: readonly number[]): void {
  const formatVerdict = (is: boolean) => (is ? "met" : "MISSED");
  const ms = computeDifference(run, node);
  const ratio = computeRatio(run, etcdctl);
  printNote(
    `aim: at most ${OVER_NODE} ms over bare Node: ${formatNumber(ms)} ms, ${formatVerdict(ms <= OVER_NODE)}`,
  );
  printNote(
    `aim: at most ${TIMES_ETCDCTL} times \`etcdctl lock\`: ${formatNumber(ratio, 2)} times, ${formatVerdict(ratio <= TIMES_ETCDCTL)}`,
  );
  printNote(
    `(bare Node alone is ${formatNumber(computeRatio(node, etcdctl), 2)} times \`etcdctl lock\` here)`,
  );
}
