import type { Argv, BenchCluster } from "../bench-cluster.ts";
import { computeMedian, formatNumber, printNote, printTable } from "../figures.ts";
import { readRaftIndex } from "../proposals.ts";
import type { BenchAgent } from "./agent-process.ts";
import { quoteArgv, runScript } from "./shell.ts";
import type { Target } from "./targets.ts";

const AT_ONCE = 100;

/** Measures runs that start at one instant, each with a lock of its own, until the last has ended. */
export async function benchmarkStampede(cluster: BenchCluster, agent: BenchAgent): Promise<Target[]> {
  const contenders: [what: string, argv: (name: string) => Argv][] = [
    ["launcher", (name) => agent.buildLauncherArgv("--lock", name, "--", "true")],
    ["etcdctl lock", (name) => cluster.buildEtcdctlArgv(name, "true")],
    ["run, classic", (name) => cluster.buildSignalboxArgv("run", "--lock", name, "--", "true")],
    ["true", () => ["/bin/true"]],
  ];
  const series = contenders.map(([what]) => ({ what, seconds: [] as number[], entries: [] as number[] }));
  for (let round = 0; round < (cluster.quick ? 2 : 7); round += 1) {
    for (const [at, [, buildArgv]] of contenders.entries()) {
      const { seconds, entries } = await measureStampede(cluster, agent, buildArgv);
      if (round === 0) continue; // to warm up
      series[at]?.seconds.push(seconds);
      series[at]?.entries.push(entries);
    }
  }
  const rows = series.map(({ what, seconds, entries }) => [
    what,
    ...[computeMedian(seconds), Math.min(...seconds), Math.max(...seconds)].map((one) =>
      formatNumber(one, 3),
    ),
    formatNumber(computeMedian(entries) / AT_ONCE, 2),
  ]);
  const head = ["", "median s", "min", "max", "raft entries each"];
  printTable(`${AT_ONCE} runs at one instant, until the last has ended`, head, rows);
  printNote("in turns; a shell starts all, one after the other");
  const [launched = [], etcdctl = []] = series.map((one) => one.seconds);
  const ratio = computeMedian(launched.map((one, at) => one / (etcdctl[at] ?? Number.NaN)));
  return [{ what: `${AT_ONCE} runs at one instant, to etcdctl lock`, value: ratio, most: 0.3 }];
}

async function measureStampede(
  cluster: BenchCluster,
  { env }: BenchAgent,
  buildArgv: (name: string) => Argv,
): Promise<{ seconds: number; entries: number }> {
  const lines = Array.from(
    { length: AT_ONCE },
    (_, at) => `${quoteArgv(buildArgv(`bench-stampede-${at}`))} &`,
  );
  const script = ["a=$EPOCHREALTIME", ...lines, "wait", "b=$EPOCHREALTIME", `echo $((\${b/./} - \${a/./}))`];
  const before = await readRaftIndex(cluster);
  const micros = Number(await runScript(script.join("\n"), env));
  return { seconds: micros / 1e6, entries: Number((await readRaftIndex(cluster)) - before) };
}
