import { join } from "node:path";
import { type Argv, type BenchCluster, canStart } from "../bench-cluster.ts";
import { computeMedian, computeQuantile, formatNumber, printNote, printTable } from "../figures.ts";
import { readRaftIndex } from "../proposals.ts";
import { type BenchAgent, readThreadTime } from "./agent-process.ts";
import { quoteArgv, runScript } from "./shell.ts";
import type { Target } from "./targets.ts";

interface Subject {
  what: string;
  argv: Argv;
  /** ms, by round. */
  walls: number[];
}

interface ProcessorTime {
  /** ms per run. */
  caller: number;
  agent: number;
}

/** Measures single uncontended runs of `true`, one after the other. */
export async function benchmarkSingleRuns(cluster: BenchCluster, agent: BenchAgent): Promise<Target[]> {
  const rounds = cluster.quick ? 10 : 60;
  const subjects = listSubjects(cluster, agent);
  await measureWalls(subjects, 3, agent.env); // to warm up
  for (const subject of subjects) subject.walls = [];
  await measureWalls(subjects, rounds, agent.env);
  const rows: string[][] = [];
  const costs = new Map<string, ProcessorTime & { proposals: number }>();
  const etcdctl = findWalls(subjects, "etcdctl lock");
  for (const { what, argv, walls } of subjects) {
    const cost = await measureProcessorTime(cluster, agent, argv, cluster.quick ? 10 : 50);
    costs.set(what, cost);
    const quantiles = [0.5, 0.25, 0.95].map((part) => formatNumber(computeQuantile(walls, part)));
    const ratio = `${formatNumber(computeRatio(walls, etcdctl), 2)}x`;
    const times = [cost.caller, cost.caller + cost.agent].map((ms) => formatNumber(ms));
    rows.push([what, ...quantiles, ratio, ...times, formatNumber(cost.proposals)]);
  }
  const head = ["", "median ms", "p25", "p95", "to etcdctl", "cpu caller", "with agent", "proposals"];
  printTable(`One uncontended run of \`true\`, ${rounds} rounds`, head, rows);
  printNote("in turns; to etcdctl: median of the ratios in each round; cpu: ms, with `true` itself");
  const launched = costs.get("launcher");
  return [
    {
      what: "one run, wall time to etcdctl lock",
      value: computeRatio(findWalls(subjects, "launcher"), etcdctl),
      most: 0.45,
    },
    { what: "processor time of the caller, ms", value: launched?.caller, most: 2 },
    {
      what: "processor time of caller and agent, ms",
      value: launched && launched.caller + launched.agent,
      most: 8,
    },
    { what: "raft proposals per run", value: launched?.proposals, most: 2 },
  ];
}

function listSubjects(cluster: BenchCluster, agent: BenchAgent): Subject[] {
  const words = ["--lock", "bench-agent", "--", "true"];
  const subjects: [what: string, argv: Argv][] = [
    ["true", ["/bin/true"]],
    ["launcher", agent.buildLauncherArgv(...words)],
    ["run, classic", cluster.buildSignalboxArgv("run", ...words)],
    ["node -e 0", [process.execPath, "-e", "0"]],
    ["etcdctl lock", cluster.buildEtcdctlArgv("bench-agent-etcdctl", "true")],
  ];
  if (canStart("flock")) subjects.splice(1, 0, ["flock", ["flock", join(cluster.folder, "x"), "true"]]);
  return subjects.map(([what, argv]) => ({ what, argv, walls: [] }));
}

/** Runs all subjects in each round, so that noise affects all in the same way. The order changes from round to round. */
async function measureWalls(
  subjects: readonly Subject[],
  rounds: number,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const lines = subjects.flatMap((_, at) => {
    const order = [...subjects.slice(at), ...subjects.slice(0, at)];
    const measure = ({ argv }: Subject) =>
      `a=$EPOCHREALTIME; ${quoteArgv(argv)} || exit; b=$EPOCHREALTIME; echo "${subjects.findIndex((one) => one.argv === argv)} $((\${b/./} - \${a/./}))"`;
    return [`order${at}() { ${order.map(measure).join("; ")}; }`];
  });
  const calls = Array.from({ length: rounds }, (_, round) => `order${round % subjects.length}`);
  const output = await runScript([...lines, ...calls].join("\n"), env);
  for (const line of output.trim().split("\n")) {
    const [at, micros] = line.split(" ").map(Number);
    subjects[at ?? 0]?.walls.push((micros ?? 0) / 1_000);
  }
}

async function measureProcessorTime(
  cluster: BenchCluster,
  agent: BenchAgent,
  argv: Argv,
  runs: number,
): Promise<ProcessorTime & { proposals: number }> {
  const [index, before] = [await readRaftIndex(cluster), readThreadTime(agent.pid)];
  const caller = await measureCaller(argv, runs, agent.env);
  const [agentTime, entries] = [
    readThreadTime(agent.pid) - before,
    Number((await readRaftIndex(cluster)) - index),
  ];
  return { caller, agent: agentTime / runs, proposals: entries / runs };
}

/** Runs a program so often. @returns its processor time, and that of its children, ms each time */
export async function measureCaller(argv: Argv, runs: number, env: NodeJS.ProcessEnv): Promise<number> {
  const script = `for ((i = 0; i < ${runs}; i++)); do ${quoteArgv(argv)} > /dev/null || exit; done; times`;
  return parseTimes((await runScript(script, env)).trim().split("\n")[1] ?? "") / runs;
}

/** Parses what the builtin `times` prints for children: `0m1.234s 0m0.567s`. @returns the sum, ms */
function parseTimes(line: string): number {
  const parts = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000,
    0,
  );
}

function findWalls(subjects: readonly Subject[], wanted: string): number[] {
  return subjects.find(({ what }) => what === wanted)?.walls ?? [];
}

function computeRatio(walls: readonly number[], base: readonly number[]): number {
  return computeMedian(walls.map((wall, round) => wall / (base[round] ?? Number.NaN)));
}
