import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchCluster, runProgram } from "./bench-cluster.ts";
import { computeMedian, formatNumber, printNote, printTable } from "./figures.ts";

type Marks = Map<string, number>;

const TXN = "/v3/kv/txn";

/** Phases, each with the mark at which it ends (see spy.cjs). A phase begins at the end of the previous one. */
const PHASES: [what: string, until: string][] = [
  ["node starts", "node ready"],
  ["node reads the program", "code asked for"],
  ["V8 takes the code", "code loaded"],
  ["arguments, configuration, connection", "/v3/lease/grant asked"],
  ["session granted (guardian starts meanwhile)", "/v3/lease/grant answered"],
  ["claim asked for", `${TXN} asked`],
  ["claim granted", `${TXN} answered`],
  ["command runs", `${TXN} asked last`],
  ["tickets and history written", `${TXN} answered last`],
  ["session ended", "/v3/lease/revoke answered"],
  ["guardian gone, exit", "exit"],
];

/** Measures the phases of a run, by its own clock from the start of its process. */
export async function benchmarkPhases(cluster: BenchCluster): Promise<void> {
  const rounds = cluster.quick ? 5 : 30;
  const file = join(cluster.folder, "marks.json");
  const env = { ...cluster.env, BENCH_MARKS: file };
  const [node, ...args] = cluster.buildSignalboxArgv("run", "--lock", "bench-phases", "--", "true");
  const runs: Marks[] = [];
  for (let round = 0; round < rounds; round += 1) {
    runProgram([node, "--require", join(import.meta.dirname, "spy.cjs"), ...args], env);
    runs.push(collectMarks(JSON.parse(readFileSync(file, "utf8")) as [string, number][]));
  }
  const rows = PHASES.map(([what, until], at) => {
    const from = PHASES[at - 1]?.[1];
    const spans = runs.map(
      (marks) => getInstant(marks, until) - (from === undefined ? 0 : getInstant(marks, from)),
    );
    return [
      what,
      formatNumber(computeMedian(spans)),
      formatNumber(computeMedian(runs.map((marks) => getInstant(marks, until)))),
    ];
  });
  printTable(`Where the time of a run goes, ${rounds} rounds`, ["", "median ms", "until"], rows);
  const spawn = runs.map(
    (marks) => getInstant(marks, "guardian started") - getInstant(marks, "guardian asked for"),
  );
  printNote(`spawning the guardian blocks for ${formatNumber(computeMedian(spawn))} ms of this time`);
  printNote("the time of the kernel before Node's clock starts and after the exit is not included");
}

/** Indexes marks by name: the first one under its name, the last one under `NAME last`. */
function collectMarks(list: readonly [string, number][]): Marks {
  const marks: Marks = new Map();
  for (const [what, at] of list) {
    if (!marks.has(what)) marks.set(what, at);
    marks.set(`${what} last`, at);
  }
  return marks;
}

function getInstant(marks: Marks, what: string): number {
  return marks.get(what) ?? Number.NaN;
}
