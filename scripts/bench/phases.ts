import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bed, ran } from "./bed.ts";
import { median, note, shown, table } from "./figures.ts";

type Marks = Map<string, number>;

const TXN = "/v3/kv/txn";

/** Phases by the marks at which they end (see spy.cjs); each begins where the one before it ended. */
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

/** Where the time of a run goes, by its own clock from the start of its process. */
export async function phases(bed: Bed): Promise<void> {
  const rounds = bed.quick ? 5 : 30;
  const file = join(bed.folder, "marks.json");
  const env = { ...bed.env, BENCH_MARKS: file };
  const [node, ...args] = bed.signalbox("run", "--lock", "bench-phases", "--", "true");
  const runs: Marks[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ran([node, "--require", join(import.meta.dirname, "spy.cjs"), ...args], env);
    runs.push(marksOf(JSON.parse(readFileSync(file, "utf8")) as [string, number][]));
  }
  const rows = PHASES.map(([what, until], at) => {
    const from = PHASES[at - 1]?.[1];
    const spans = runs.map(
      (marks) => instant(marks, until) - (from === undefined ? 0 : instant(marks, from)),
    );
    return [what, shown(median(spans)), shown(median(runs.map((marks) => instant(marks, until))))];
  });
  table(`Where the time of a run goes, ${rounds} rounds`, ["", "median ms", "until"], rows);
  const spawn = runs.map(
    (marks) => instant(marks, "guardian started") - instant(marks, "guardian asked for"),
  );
  note(`of these, spawning the guardian blocks for ${shown(median(spawn))} ms`);
  note("the kernel's part before Node's clock starts, and its end of the process, are not in it");
}

/** The first mark of each name, and as `… last` the last. A held claim is also watched: that read is another one. */
function marksOf(list: readonly [string, number][]): Marks {
  const marks: Marks = new Map();
  for (const [what, at] of list) {
    if (!marks.has(what)) marks.set(what, at);
    marks.set(`${what} last`, at);
  }
  return marks;
}

function instant(marks: Marks, what: string): number {
  return marks.get(what) ?? Number.NaN;
}
