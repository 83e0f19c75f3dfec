/** A crontab of Debian's cron, on a host where nothing was set up for signalbox. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startCron } from "../../../fixtures/cron.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { LAUNCHER } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { hasLimits } from "../../../src/cli/commands/run/start-agent.impl.ts";
import { thisMachine } from "../../../src/core/config/machine.ts";
import { readHostFacts } from "../../../src/core/fleet/host.ts";

const cluster = TestCluster.startForFile();
const UID = 2_000_000 + process.pid;

/** Prints the names of its ancestors, from its parent to cron. */
const ANCESTORS = `pid=$PPID
while read -r name </proc/$pid/comm && [ "$name" != cron ]; do
  printf '%s ' "$name"
  pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
done
echo`;

function killProcesses(user: number) {
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const status = existsSync(`/proc/${name}/status`) ? readFileSync(`/proc/${name}/status`, "utf8") : "";
    if (status.includes(`\nUid:\t${user}\t`)) killProcess(Number(name), "SIGKILL");
  }
}

/** With limits, as on a slow machine, no run starts an agent. */
const canStart = process.getuid?.() === 0 && !hasLimits(readHostFacts(thisMachine));

test.runIf(canStart)("the second run of a line is served", async () => {
  const folder = createTestFolder();
  const { SIGNALBOX_PREFIX } = cluster.createNamespace().env;
  const [script, output] = [join(folder, "job.sh"), join("/tmp", `signalbox-cron-${process.pid}`)];
  mkdirSync(output);
  chmodSync(output, 0o777);
  appendFileSync(script, ANCESTORS);
  const crontab = `SIGNALBOX_ENDPOINTS=${cluster.endpoints.join(",")}
SIGNALBOX_PREFIX=${SIGNALBOX_PREFIX}
* * * * * umask 0; ${LAUNCHER} run --agent start --lock x -- sh ${script} >>${output}/out 2>&1
`;
  const stop = await startCron(crontab, { uid: UID, folder });
  onTestFinished(async () => {
    await stop();
    killProcesses(UID);
    for (const path of [output, `/tmp/signalbox-${UID}`]) rmSync(path, { recursive: true, force: true });
  });
  /** A job writes its line word by word: the last one may be incomplete. */
  const readRuns = () =>
    existsSync(`${output}/out`) ? readFileSync(`${output}/out`, "utf8").split("\n").slice(0, -1) : [];
  const [first, second] = await waitUntil("two runs", () => readRuns().length === 2 && readRuns(), {
    ms: 200_000,
    every: 500,
  });
  expect([first, second]).toEqual([
    expect.stringMatching(/^sbxgd sbxgd (node|MainThread) sh\b/),
    expect.stringMatching(/^sbxgd sbxgd launcher sh\b/),
  ]);
});
