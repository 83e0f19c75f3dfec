import { join } from "node:path";
import { type Argv, type Bed, exists } from "./bed.ts";
import { mean, median, note, quantile, shown, table } from "./figures.ts";
import { type Cost, costOf, peakMemory } from "./measure.ts";
import { phases } from "./phases.ts";

/** Aims: so much longer than bare Node, in ms; so many times as long as `etcdctl lock`. */
const OVER_NODE = 35;
const TIMES_ETCDCTL = 3;
/** Warm-up rounds, not counted. */
const WARM_UP = 3;

interface Subject {
  what: string;
  argv: Argv;
  costs: Cost[];
  /** MiB. */
  peaks: number[];
}

/** What a run costs its host: time, processor, memory. All subjects take turns, so that noise meets them alike. */
export async function startUp(bed: Bed): Promise<void> {
  const rounds = bed.quick ? 10 : 60;
  const subjects = subjectsOn(bed);
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const { argv, costs } of shuffled(subjects)) {
      const cost = costOf(argv, bed.env);
      if (round >= 0) costs.push(cost);
    }
  }
  for (let round = 0; round < 5; round += 1)
    for (const { argv, peaks } of subjects) peaks.push(await peakMemory(argv, bed.env));
  print(subjects, rounds);
  await phases(bed);
}

function subjectsOn(bed: Bed): Subject[] {
  const run = (...args: string[]) => bed.signalbox("run", "--lock", "bench-start", ...args, "--", "true");
  const hosts = (bed.env.SIGNALBOX_ENDPOINTS ?? "").replaceAll("http://", "");
  const subjects: [what: string, argv: Argv][] = [
    ["node -e 0", [process.execPath, "-e", "0"]],
    ["run --lock x -- true", run()],
    ["run --no-history", run("--no-history")],
    ["zoo-locked HOSTS /x true", bed.signalbox("zoo-locked", hosts, "/bench-start-front", "true")],
    ["etcdctl lock x true", bed.etcdctlLock("bench-start-etcdctl", "true")],
    ["true", ["true"]],
  ];
  if (exists("flock")) subjects.splice(-2, 0, ["flock x true", ["flock", join(bed.folder, "x"), "true"]]);
  return subjects.map(([what, argv]) => ({ what, argv, costs: [], peaks: [] }));
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

function print(subjects: readonly Subject[], rounds: number): void {
  const node = wallsOf(subjects, "node -e 0");
  const etcdctl = wallsOf(subjects, "etcdctl lock x true");
  const rows = subjects.map(({ what, costs, peaks }) => {
    const walls = costs.map(({ wall }) => wall);
    const peak = median(peaks);
    return [
      what,
      ...[median(walls), quantile(walls, 0.25), quantile(walls, 0.95), over(walls, node)].map((ms) =>
        shown(ms),
      ),
      `${shown(times(walls, etcdctl), 2)}x`,
      shown(mean(costs.map(({ cpu }) => cpu))),
      shown(peak < 1 ? undefined : peak), // it had ended before anything could be read
    ];
  });
  const head = ["", "median ms", "p25", "p95", "over node", "to etcdctl", "cpu ms", "peak MiB"];
  table(`An uncontended run, ${rounds} rounds in turns`, head, rows);
  note("over node, to etcdctl: median of the differences and of the ratios within each round");
  verdict(wallsOf(subjects, "run --lock x -- true"), node, etcdctl);
}

function wallsOf(subjects: readonly Subject[], wanted: string): number[] {
  return subjects.find(({ what }) => what === wanted)?.costs.map(({ wall }) => wall) ?? [];
}

/** Each round's figures were taken one after the other, so they have met the same noise. */
function over(walls: readonly number[], base: readonly number[]): number {
  return median(walls.map((wall, round) => wall - (base[round] ?? Number.NaN)));
}

function times(walls: readonly number[], base: readonly number[]): number {
  return median(walls.map((wall, round) => wall / (base[round] ?? Number.NaN)));
}

function verdict(run: readonly number[], node: readonly number[], etcdctl: readonly number[]): void {
  const met = (is: boolean) => (is ? "met" : "MISSED");
  const ms = over(run, node);
  const ratio = times(run, etcdctl);
  note(`aim: at most ${OVER_NODE} ms over bare Node: ${shown(ms)} ms, ${met(ms <= OVER_NODE)}`);
  note(
    `aim: at most ${TIMES_ETCDCTL} times \`etcdctl lock\`: ${shown(ratio, 2)} times, ${met(ratio <= TIMES_ETCDCTL)}`,
  );
  note(`(bare Node alone is ${shown(times(node, etcdctl), 2)} times \`etcdctl lock\` here)`);
}
