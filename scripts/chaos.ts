/**
 * Kills and freezes workers for minutes while schedules fire, and checks what became of every occurrence:
 * `npm run chaos -- [--schedules N] [--steps N] [--workers N] [--every MS] [--seed S]`. A step is a minute of the schedules, a second here.
 */
import { parseArgs } from "node:util";
import { startEtcd } from "../fixtures/etcd/index.ts";
import { faultsOf, playChaos, takeovers } from "../fixtures/schedule/chaos.ts";
import { openStore } from "../src/etcd/open.ts";
import { realClock } from "../src/process/clock.ts";
import { quantile, shown } from "./bench/figures.ts";

const TTL = 3;
const text = (fallback: string) => ({ type: "string", default: fallback }) as const;
const { values } = parseArgs({
  options: {
    ...{ schedules: text("1000"), steps: text("120"), workers: text("3"), every: text("3000") },
    seed: text(String(Math.floor(Math.random() * 1_000_000))),
  },
});
const { schedules, steps, workers, every, seed } = values;
const etcd = await startEtcd();
const store = await openStore({ endpoints: [etcd.clientUrl] }, { clock: realClock() });
try {
  console.log(`${schedules} schedules, ${steps} steps, ${workers} workers, seed ${seed}`);
  const report = await playChaos({
    ...{ endpoints: [etcd.clientUrl], store, ttl: TTL, faultEvery: Number(every), seed: Number(seed) },
    ...{ schedules: Number(schedules), steps: Number(steps), workers: Number(workers) },
  });
  const hurts = [...report.hurt.values()].flat();
  const killed = hurts.filter(({ kind }) => kind === "killed").length;
  console.log(
    `${report.occurrences.length} occurrences, ${report.runs.length} starts in ${shown(report.seconds, 0)} s; ` +
      `killed ${killed}, frozen ${hurts.length - killed}`,
  );
  const times = takeovers(report).map((ms) => ms / 1_000);
  if (times.length > 0) {
    const [half, most] = [quantile(times, 0.5), quantile(times, 1)].map((one) => shown(one, 1));
    console.log(
      `taken over after a kill: p50 ${half} s, most ${most} s (ttl ${TTL} s), ${times.length} times`,
    );
  }
  const faults = faultsOf(report);
  console.log(faults.length === 0 ? "nothing lost, nothing twice" : faults.slice(0, 20).join("\n"));
  if (faults.length > 0) console.log(`what workers said last:\n${report.complaints}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  store.close();
  await etcd.stop();
}
