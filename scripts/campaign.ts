/** Injects faults, chosen by a seed, into a cluster, hosts and jobs, and checks the promises: `npm run campaign -- --help`. */
import { parseArgs } from "node:util";
import { playCampaign } from "../fixtures/campaign/campaign.ts";
import { hasPassed, judgeFacts } from "../fixtures/campaign/check/index.ts";
import { buildCampaignReport, countFacts, describeCampaign } from "../fixtures/campaign/report.ts";

const HELP = `npm run campaign -- [--seconds N] [--seed S] [--etcd VERSION] [--json]

Starts three members of etcd with a proxy in front of each port, and four simulated hosts with agents, runs and workers,
and injects faults. Every process of every job records when it ran. At the end, the records are compared with the promises of
docs/safety.md. Two negative controls, etcdctl lock and the lock of the npm package etcd3, must fail under the same faults.

  --seconds N     duration of the faults (default: 180); the checks afterwards take half a minute or more
  --seed S        seed of the faults and commands (default: random)
  --etcd VERSION  version of etcd, such as 3.5.30 (default: as npm test)
  --json          print figures and findings as JSON on standard output
  --keep          keep the folder with the journals even if nothing was found

Exit code 1: a promise was broken, or a control did not fail (the faults were too weak). The journals are then kept.`;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "180" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    etcd: { type: "string" },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const [seconds, seed] = [values.seconds, values.seed].map(Number);

if (values.help) console.log(HELP);
else if (!isCount(seconds) || !isCount(seed)) {
  console.error(
    `--seconds and --seed must be whole numbers above 0; got ${values.seconds} and ${values.seed}`,
  );
  process.exitCode = 64;
} else await main(seconds, seed);

function isCount(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && (value ?? 0) > 0;
}

async function main(seconds: number, seed: number): Promise<void> {
  if (values.etcd !== undefined) process.env.ETCD_VERSION = values.etcd;
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => interrupted.abort());
  const started = performance.now();
  const printLine = (line: string) => console.error(line);
  printLine(`seed ${seed}, ${seconds} s of faults`);
  const { facts, folder, close } = await playCampaign({
    seconds,
    seed,
    signal: interrupted.signal,
    reportProgress: ({ phase, runs, faults, changes }) => {
      const elapsed = ((performance.now() - started) / 1_000).toFixed(0);
      printLine(
        `${elapsed.padStart(5)} s  ${phase}: ${runs} runs, ${faults} faults, ${changes} changes of keys`,
      );
    },
  });
  const verdict = judgeFacts(facts);
  const figures = countFacts(facts);
  const isPassed = hasPassed(verdict);
  await close(values.keep || !isPassed);
  if (values.json)
    console.log(JSON.stringify(buildCampaignReport({ seed, seconds }, figures, verdict), undefined, 2));
  else console.log(describeCampaign(figures, verdict).join("\n"));
  if (values.keep || !isPassed) printLine(`seed ${seed}; journals: ${folder}`);
  // All child processes end with this process. Do not wait for calls to members that are gone.
  process.exit(isPassed ? 0 : 1);
}
