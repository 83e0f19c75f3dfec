import { freemem } from "node:os";
import type { BenchCluster } from "../bench-cluster.ts";
import { computeQuantile, formatNumber, printNote, printTable } from "../figures.ts";
import { type Contender, measureQueue, type Series } from "../hand-off.ts";
import { type BenchAgent, measureMemory } from "./agent-process.ts";
import type { Target } from "./targets.ts";

/** Estimated memory of a waiting process, bytes. A queue is not measured if its waiters need more than is free. */
const NEED = { launcher: 512 * 1024, etcdctl: 12 * 1024 * 1024 };
const LOCK = "bench-waiters";
/** A short queue gives few measurements, so it is repeated until there are this many. */
const HAND_OVERS = 30;

interface Waiter extends Contender {
  need: number;
  /** Processes that serve all waiters. */
  servers: readonly number[];
}

interface QueueFigures {
  p50: number;
  mib: number;
}

/** Measures how fast the next waiter starts for several queue lengths, and the memory of the waiters. */
export async function benchmarkWaiters(cluster: BenchCluster, agent: BenchAgent): Promise<Target[]> {
  const lengths = cluster.quick ? [2, 20] : [2, 100, 1_000];
  const figures = new Map<string, QueueFigures>();
  const rows: string[][] = [];
  for (const waiters of lengths) {
    for (const contender of listContenders(cluster, agent)) {
      if (freemem() < waiters * contender.need) continue;
      const { series, mib } = await measureSeries(cluster, contender, waiters);
      const gaps = series.flatMap((one) => one.gaps);
      const quantiles = [0.5, 0.95, 1].map((part) => computeQuantile(gaps, part));
      figures.set(`${contender.what} ${waiters}`, { p50: quantiles[0] ?? Number.NaN, mib });
      rows.push([
        contender.what,
        String(waiters),
        ...[...quantiles, mib].map((one) => formatNumber(one)),
        String(gaps.length),
      ]);
    }
  }
  const head = ["", "waiters", "p50 ms", "p95", "max", "PSS, MiB", "hand-overs"];
  printTable("Hand-over: from the end of one command to the start of the next", head, rows);
  printNote("includes the start of a shell and of date(1); PSS: all waiters, and the agent");
  return buildTargets(lengths, figures);
}

function listContenders(cluster: BenchCluster, agent: BenchAgent): Waiter[] {
  return [
    {
      what: "launcher",
      buildWaitArgv: (command: string[]) =>
        agent.buildLauncherArgv("--wait", "--lock", LOCK, "--", ...command),
      prefix: `/signalbox/locks/${LOCK}/`,
      need: NEED.launcher,
      servers: [agent.pid],
    },
    {
      what: "etcdctl lock",
      buildWaitArgv: (command: string[]) => cluster.buildEtcdctlArgv(LOCK, ...command),
      prefix: `${LOCK}/`,
      need: NEED.etcdctl,
      servers: [],
    },
  ].map((waiter) => ({ ...waiter, env: agent.env }));
}

async function measureSeries(
  cluster: BenchCluster,
  waiter: Waiter,
  waiters: number,
): Promise<{ series: Series[]; mib: number }> {
  const series: Series[] = [];
  let mib = Number.NaN;
  const wanted = cluster.quick ? 4 : HAND_OVERS;
  while (series.flatMap(({ gaps }) => gaps).length < wanted)
    series.push(
      await measureQueue(cluster, waiter, waiters, (pids) => {
        mib = measureMemory([...pids, ...waiter.servers]);
      }),
    );
  return { series, mib };
}

function buildTargets(lengths: readonly number[], figures: ReadonlyMap<string, QueueFigures>): Target[] {
  const getP50 = (what: string, waiters: number) => figures.get(`${what} ${waiters}`)?.p50 ?? Number.NaN;
  const longest = lengths.at(-1) ?? 0;
  return [
    ...lengths.map((waiters) => ({
      what: `hand-over to ${waiters} waiters, p50, to etcdctl lock`,
      value: getP50("launcher", waiters) / getP50("etcdctl lock", waiters),
      most: 1,
    })),
    {
      what: `hand-over, p50, ${longest} waiters to ${lengths[0]}`,
      value: getP50("launcher", longest) / getP50("launcher", lengths[0] ?? 0),
      most: 1.2,
    },
    { what: `${longest} waiters, MiB`, value: figures.get(`launcher ${longest}`)?.mib, most: 250 },
  ];
}
