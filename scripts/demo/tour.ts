import { availableParallelism, loadavg } from "node:os";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { type RunningProcess, startSignalbox } from "../../fixtures/signalbox.ts";

const started = performance.now();
const running = new Set<RunningProcess>();
/** Limits of what dies. On a busy machine, a session of three seconds can end before the kill. */
const isBusy = (loadavg()[0] ?? 0) > 4 * availableParallelism();
const MORTAL = ["--ttl", isBusy ? "12s" : "3s", "--termination-timeout", "1s"];

/** Runs real commands on a few simulated hosts for about 20 seconds, and prints their output as it comes. */
export async function runTour(): Promise<void> {
  const etcd = await startEtcd();
  try {
    await showOneOfMany(etcd);
    await showSharedResource(etcd);
    const workers = ["web1", "web2"].map((host) => startWorker(etcd, host)); // they join during the next scene
    await showDeadHost(etcd);
    await showSchedules(etcd, workers);
    await showOperator(etcd);
  } finally {
    for (const { child } of running) child.kill("SIGKILL");
    await etcd.stop();
  }
  console.log(`
The demo used a real etcd, which is removed now. Next:

  npm run demo -- --console                     # a site of twelve hosts, in the console
  dist/signalbox setup etcd host1 host2 host3   # your own hosts: docs/three-hosts.md`);
}

async function showOneOfMany(member: EtcdMember): Promise<void> {
  printHeading(
    "Three hosts have the same line in their crontabs. One runs the job, the others give up without output.",
  );
  const job = ["run", "--lock", "invoices", "--", "sh", "-c", "echo sending invoices; sleep 0.5; echo done"];
  await Promise.all(["web1", "web2", "web3"].map((host) => runOnHost(member, host, job).ended));
}

async function showSharedResource(member: EtcdMember): Promise<void> {
  printHeading(
    "The database has 4 units. Reports take 2, the nightly one 3. Smaller reports behind it do not overtake it.",
  );
  const buildReportCommand = (name: string, units: number) => [
    "run",
    "-v",
    "--lock",
    name,
    "--lease",
    `db=${units}:4`,
    "--",
    "sh",
    "-c",
    `echo ${name} uses ${units} of 4; sleep 0.6; echo ${name} is done`,
  ];
  const wishes = [
    buildReportCommand("sales", 2),
    buildReportCommand("stock", 2),
    buildReportCommand("nightly", 3),
    buildReportCommand("taxes", 2),
    buildReportCommand("leads", 1),
  ];
  const runs: RunningProcess[] = [];
  for (const [index, wish] of wishes.entries()) {
    runs.push(runOnHost(member, `db${1 + (index % 2)}`, wish));
    await runs.at(-1)?.waitForOutput(/waiting|started/);
  }
  await Promise.all(runs.map(({ ended }) => ended));
}

async function showDeadHost(member: EtcdMember): Promise<void> {
  printHeading(
    "A runner dies during a job (kill -9). Its command is killed too, and the next host takes over.",
  );
  const job = ["run", "--wait", ...MORTAL, "--lock", "sync", "--", "sh", "-c"];
  const doomed = runOnHost(member, "web1", [...job, "echo pid $$; echo working; exec sleep 60"]);
  await doomed.waitForOutput(/working/);
  const pid = Number(/^pid (\d+)$/m.exec(doomed.output.stdout)?.[1]);
  const heir = runOnHost(member, "web2", ["-v", ...job, "echo carrying on"]);
  await heir.waitForOutput(/waiting/);
  printLine("web1", `*** kill -9 ${doomed.child.pid} ***`);
  doomed.child.kill("SIGKILL");
  await doomed.ended;
  await waitUntil(() => !isRunning(pid));
  printLine("web1", "its command is dead too: the guardian killed it");
  await heir.ended;
}

interface DemoWorker {
  host: string;
  worker: RunningProcess;
}

function startWorker(member: EtcdMember, host: string): DemoWorker {
  return { host, worker: runOnHost(member, host, ["worker", ...MORTAL]) };
}

async function showSchedules(member: EtcdMember, workers: readonly DemoWorker[]): Promise<void> {
  printHeading(
    "A schedule replaces crontabs: workers on two hosts, and each run on one of them. One worker dies; the other one repeats the run.",
  );
  const add = ["schedule", "add", "report", "@daily", "--", "sh", "-c"];
  await runOnHost(member, "ops", [...add, "echo run $SIGNALBOX_ATTEMPT on $SIGNALBOX_HOST; sleep 1"]).ended;
  await waitUntil(
    () => workers.every(({ worker }) => worker.output.stderr.includes("worker joined")),
    isBusy ? 30_000 : 3_000,
  );
  await runOnHost(member, "ops", ["schedule", "trigger", "report", "--yes"]).ended;
  const doomed = await Promise.race(
    workers.map(async (one) => {
      await one.worker.waitForOutput(/run 1/);
      return one;
    }),
  );
  printLine(doomed.host, "*** kill -9 ***");
  doomed.worker.child.kill("SIGKILL");
  const heir = workers.find((one) => one !== doomed);
  await heir?.worker.waitForOutput(/run 2/);
  heir?.worker.child.kill("SIGTERM");
  await heir?.worker.ended;
}

async function showOperator(member: EtcdMember): Promise<void> {
  printHeading("An operator lists the locks, asks why a run waits, and ends a job that is stuck.");
  const job = ["run", "--lock", "backup", "--termination-timeout", "500ms", "--", "sh", "-c"];
  const stuck = runOnHost(member, "web1", [...job, "trap '' TERM; echo stuck; while :; do sleep 0.1; done"]);
  await stuck.waitForOutput(/stuck/);
  const next = runOnHost(member, "web2", [
    "run",
    "--wait",
    "--lock",
    "backup",
    "--",
    "sh",
    "-c",
    "echo at last; sleep 1",
  ]);
  await waitUntil(() => next.output.stderr !== "" || next.child.exitCode !== null, 500);
  await runOnHost(member, "ops", ["ls"]).ended;
  await runOnHost(member, "ops", ["why", "backup"]).ended;
  await runOnHost(member, "ops", ["reset", "lock", "backup", "--yes", "--reason", "it was stuck"]).ended;
  await next.waitForOutput(/at last/);
  await next.ended;
}

/** Runs signalbox as on another host, and prints its output as it comes. */
function runOnHost(member: EtcdMember, host: string, args: string[]): RunningProcess {
  const [verb = "", ...rest] = args[0] === "-v" ? [args[1], "-v", ...args.slice(2)] : args;
  const named = verb === "run" || verb === "worker" ? [verb, "--host", host, ...rest] : [verb, ...rest];
  const run = startSignalbox(
    named.filter((word) => word !== undefined),
    { endpoints: member.endpoints },
  );
  running.add(run);
  printLines(host, run);
  run.ended.then(({ code }) => {
    running.delete(run);
    if (code === 75) printLine(host, "gave up (exit code 75)");
    else if (code !== 0 && code !== null) printLine(host, `exit code ${code}`);
  });
  return run;
}

/**
 * What is left out: that runs start and end, because their commands show it; how workers begin and end; and the pid of the command,
 * because people look for the runner's.
 */
const LEFT_OUT =
  /^(pid \d+$|signalbox: (started|finished|worker joined|schedules read|leaving|(warn: )?this host's clock))/;

/** Prints the output of the commands, and why runs wait. */
function printLines(host: string, { child }: RunningProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (!LEFT_OUT.test(line)) printLine(host, formatWaitReason(line));
    });
  }
}

function formatWaitReason(line: string): string {
  return line
    .replace(/^signalbox: waiting why="(?:waiting (?=for))?(.*)"$/, "waits: $1")
    .replaceAll('\\"', '"');
}

function printHeading(title: string): void {
  console.log(`\n${title}`);
}

function printLine(host: string, text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(2).padStart(5);
  console.log(`  ${seconds} s  ${host.padEnd(5)} ${text}`);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits until a condition is true, for `ms` milliseconds at most. */
async function waitUntil(holds: () => boolean, ms = Number.POSITIVE_INFINITY): Promise<void> {
  const limit = performance.now() + ms;
  while (!holds() && performance.now() < limit) await new Promise((resolve) => setTimeout(resolve, 5));
}
