/** Faults by seed against a cluster, hosts and jobs: `npm run campaign -- --help`. */
import { parseArgs } from "node:util";
import { playCampaign } from "../fixtures/campaign/campaign.ts";
import { hasPassed, judgeFacts } from "../fixtures/campaign/check/index.ts";
import { countFacts, describeCampaign } from "../fixtures/campaign/report.ts";

const HELP = `npm run campaign -- [--seconds N] [--seed S] [--etcd VERSION] [--json]

Three members of etcd with a proxy before each port, four simulated hosts with runs and workers, and faults. Every process
of every job writes down when it lived; at the end that is held against what docs/safety.md promises. Two negative
controls, etcdctl lock and the lock of the npm package etcd3, must fail under the same faults.

  --seconds N     how long faults come (default 180); what follows takes half a minute or more
  --seed S        the same faults and orders for the same seed (default: random)
  --etcd VERSION  such as 3.5.30 (default: what npm test takes)
  --json          figures and findings as JSON on standard output
  --keep          leave the folder with the journals also where nothing was found

Exit code 1: a promise was broken, or a control held (the faults were too weak). The folder with all journals stays then.`;

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
    ...{ seconds, seed, signal: interrupted.signal },
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
    console.log(JSON.stringify({ seed, seconds, hasPassed, ...figures, ...verdict }, undefined, 2));
  else console.log(describeCampaign(figures, verdict).join("\n"));
  if (values.keep || !isPassed) printLine(`seed ${seed}; journals: ${folder}`);
  // Whatever was started ends with this process, and what still waits for a member that is gone need not.
  process.exit(isPassed ? 0 : 1);
}
