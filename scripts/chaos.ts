import { startEtcd } from "../fixtures/etcd/index.ts";
import { computeTakeovers, findViolations, playChaos } from "../fixtures/schedule/chaos.ts";
import { openStore } from "../src/core/etcd/open.ts";
import { createRealClock } from "../src/core/process/clock.ts";
import { readArguments, readNumber } from "./arguments.ts";
import { computeQuantile, formatNumber } from "./bench/figures.ts";

const HELP = `npm run chaos -- [--schedules N] [--steps N] [--workers N] [--every MS] [--seed S]

Kills and freezes workers while schedules fire, and checks the result of every occurrence.

  --schedules N   number of schedules (default: 1000)
  --steps N       minutes of schedule time, each of which takes a second (default: 120)
  --workers N     number of workers (default: 3)
  --every MS      time from one fault to the next (default: 3000)
  --seed S        seed of the faults (default: random)`;

const TTL = 3;
const createTextOption = (fallback: string) => ({ type: "string", default: fallback }) as const;
const { values } = readArguments(HELP, {
  schedules: createTextOption("1000"),
  steps: createTextOption("120"),
  workers: createTextOption("3"),
  every: createTextOption("3000"),
  seed: createTextOption(String(Math.floor(Math.random() * 1_000_000))),
});
const readOption = (name: keyof typeof values) => readNumber(HELP, name, values[name]);
const [schedules, steps, workers] = [readOption("schedules"), readOption("steps"), readOption("workers")];
const [every, seed] = [readOption("every"), readOption("seed")];
const etcd = await startEtcd();
const store = await openStore({ endpoints: [etcd.clientUrl] }, { clock: createRealClock() });
try {
  console.log(`${schedules} schedules, ${steps} steps, ${workers} workers, seed ${seed}`);
  const report = await playChaos({
    endpoints: [etcd.clientUrl],
    store,
    ttl: TTL,
    faultEvery: every,
    seed,
    schedules,
    steps,
    workers,
  });
  const hurts = [...report.workerFaults.values()].flat();
  const killed = hurts.filter(({ kind }) => kind === "killed").length;
  console.log(
    `${report.occurrences.length} occurrences, ${report.runs.length} starts in ${formatNumber(report.seconds, 0)} s; ` +
      `killed ${killed}, frozen ${hurts.length - killed}`,
  );
  const times = computeTakeovers(report).map((ms) => ms / 1_000);
  if (times.length > 0) {
    const [half, slow, most] = [0.5, 0.99, 1].map((part) => formatNumber(computeQuantile(times, part), 1));
    console.log(
      `taken over: p50 ${half} s, p99 ${slow} s, max ${most} s (ttl ${TTL} s), ${times.length} times`,
    );
  }
  const faults = findViolations(report);
  console.log(faults.length === 0 ? "no occurrence was lost or ran twice" : faults.slice(0, 20).join("\n"));
  if (faults.length > 0) console.log(`last output of the workers:\n${report.complaints}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  store.close();
  await etcd.stop();
}
