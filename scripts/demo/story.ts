import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { type RunningProcess, signalbox } from "../../fixtures/signalbox.ts";

const started = performance.now();
const running = new Set<RunningProcess>();

/** A quarter of a minute of real commands on a few simulated hosts, told as they happen; ends by itself. */
export async function story(): Promise<void> {
  const etcd = await startEtcd();
  try {
    await oneOfMany(etcd);
    await firstComeFirstServed(etcd);
    await sharedResource(etcd);
    await deadHost(etcd);
    await schedules(etcd);
    await operator(etcd);
    await history(etcd);
  } finally {
    for (const { child } of running) child.kill("SIGKILL");
    await etcd.stop();
  }
  say(
    "",
    "\nThat was a real etcd, started for this demo and gone now. Next: README.md, or dist/signalbox.cjs --help",
  );
}

async function oneOfMany(member: EtcdMember): Promise<void> {
  chapter(
    "Three hosts have the same line in their crontabs. One runs it, the others give up without a word.",
  );
  const job = ["run", "--lock", "invoices", "--", "sh", "-c", "echo sending invoices; sleep 0.5; echo done"];
  await Promise.all(["web1", "web2", "web3"].map((host) => onHost(member, host, job).ended));
}

async function firstComeFirstServed(member: EtcdMember): Promise<void> {
  chapter("With --wait they queue instead: first come, first served, each with a larger fencing token.");
  const job = [
    "run",
    "--wait",
    "--lock",
    "backup",
    "--",
    "sh",
    "-c",
    "echo backup with token $SIGNALBOX_TOKEN; sleep 0.3",
  ];
  const runs: RunningProcess[] = [];
  for (const host of ["web1", "web2", "web3"]) {
    runs.push(onHost(member, host, ["-v", ...job]));
    await runs.at(-1)?.printed(/waiting|started/);
  }
  await Promise.all(runs.map(({ ended }) => ended));
}

async function sharedResource(member: EtcdMember): Promise<void> {
  chapter(
    "The database bears 4 units. Reports take 2, the nightly one 3: it is not overtaken by the small ones behind it.",
  );
  const report = (name: string, units: number) => [
    ...["run", "-v", "--lock", name, "--lease", `db=${units}:4`, "--"],
    ...["sh", "-c", `echo ${name} uses ${units} of 4; sleep 0.6; echo ${name} is done`],
  ];
  const wishes = [
    report("sales", 2),
    report("stock", 2),
    report("nightly", 3),
    report("taxes", 2),
    report("leads", 1),
  ];
  const runs: RunningProcess[] = [];
  for (const [index, wish] of wishes.entries()) {
    runs.push(onHost(member, `db${1 + (index % 2)}`, wish));
    await runs.at(-1)?.printed(/waiting|started/);
  }
  await Promise.all(runs.map(({ ended }) => ended));
}

async function deadHost(member: EtcdMember): Promise<void> {
  chapter(
    "A host dies in the middle of a job (kill -9). Its command dies with it; the next host takes over.",
  );
  const limits = ["--ttl", "3s", "--termination-timeout", "1s"];
  const job = ["run", "--wait", ...limits, "--lock", "sync", "--", "sh", "-c"];
  const doomed = onHost(member, "web1", [...job, "echo working, pid $$; exec sleep 60"]);
  await doomed.printed(/pid (\d+)/);
  const pid = Number(/pid (\d+)/.exec(doomed.output.stdout)?.[1]);
  const heir = onHost(member, "web2", ["-v", ...job, "echo carrying on"]);
  await heir.printed(/waiting/);
  say("web1", "*** kill -9 ***");
  doomed.child.kill("SIGKILL");
  await doomed.ended;
  await until(() => !exists(pid));
  say("web1", `its command (pid ${pid}) is dead too, though nobody told it`);
  await heir.ended;
}

async function schedules(member: EtcdMember): Promise<void> {
  chapter(
    "A schedule instead of crontabs: workers on two hosts, each run on one of them. One dies at work; the other does it again.",
  );
  const add = ["schedule", "add", "report", "@daily", "--", "sh", "-c"];
  await onHost(member, "ops", [...add, "echo run $SIGNALBOX_ATTEMPT on $SIGNALBOX_HOST; sleep 1"]).ended;
  const limits = ["--ttl", "3s", "--termination-timeout", "1s"];
  const workers = ["web1", "web2"].map((host) => ({
    host,
    worker: onHost(member, host, ["worker", ...limits]),
  }));
  await until(() => workers.every(({ worker }) => worker.output.stderr.includes("is there")), 3_000);
  await onHost(member, "ops", ["schedule", "trigger", "report", "--yes"]).ended;
  const doomed = await Promise.race(
    workers.map(async (one) => {
      await one.worker.printed(/run 1/);
      return one;
    }),
  );
  say(doomed.host, "*** kill -9 ***");
  doomed.worker.child.kill("SIGKILL");
  const heir = workers.find((one) => one !== doomed);
  await heir?.worker.printed(/run 2/);
  await until(() => false, 1_200);
  await onHost(member, "ops", ["ls", "schedules", "--columns", "schedule,state,last,cron,task"]).ended;
  heir?.worker.child.kill("SIGTERM");
  await heir?.worker.ended;
}

async function operator(member: EtcdMember): Promise<void> {
  chapter("An operator looks, asks why, ends a job that is stuck, and closes a host for maintenance.");
  const job = ["run", "--lock", "backup", "--termination-timeout", "500ms", "--", "sh", "-c"];
  const stuck = onHost(member, "web1", [...job, "trap '' TERM; echo stuck; while :; do sleep 0.1; done"]);
  await stuck.printed(/stuck/);
  const next = onHost(member, "web2", [
    "run",
    "--wait",
    "--lock",
    "backup",
    "--",
    "sh",
    "-c",
    "echo at last; sleep 1",
  ]);
  await until(() => next.output.stderr !== "" || next.child.exitCode !== null, 500);
  await onHost(member, "ops", ["ls"]).ended;
  await onHost(member, "ops", ["why", "backup"]).ended;
  await onHost(member, "ops", ["reset", "lock", "backup", "--yes", "--reason", "it was stuck"]).ended;
  await next.printed(/at last/);
  await onHost(member, "ops", ["drain", "host", "web2", "--yes", "--wait", "--reason", "new disks"]).ended;
  await onHost(member, "web2", ["run", "--lock", "invoices", "--", "echo", "this does not start"]).ended;
  await onHost(member, "ops", ["undrain", "host", "web2", "--yes"]).ended;
  await onHost(member, "ops", ["ls", "audit", "--columns", "who,action,target,outcome,reason"]).ended;
}

async function history(member: EtcdMember): Promise<void> {
  chapter("What is left: nothing is held, nobody waits.");
  const list = onHost(member, "web1", ["ls"]);
  await list.ended;
}

/** Runs signalbox as if on another host, and tells what it prints as it comes. */
function onHost(member: EtcdMember, host: string, args: string[]): RunningProcess {
  const [verb = "", ...rest] = args[0] === "-v" ? [args[1], "-v", ...args.slice(2)] : args;
  const named = verb === "run" || verb === "worker" ? [verb, "--host", host, ...rest] : [verb, ...rest];
  const run = signalbox(
    named.filter((word) => word !== undefined),
    { endpoints: member.endpoints },
  );
  running.add(run);
  tellLines(host, run);
  run.ended.then(({ code }) => {
    running.delete(run);
    if (code === 75) say(host, "turned away (exit code 75)");
    else if (code !== 0 && code !== null) say(host, `exit code ${code}`);
  });
  return run;
}

/** What the commands print, and why a run waits; that runs start and end is seen from their commands. */
function tellLines(host: string, { child }: RunningProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (!/^signalbox: (started|finished)/.test(line)) say(host, plain(line));
    });
  }
}

function plain(line: string): string {
  return line.replace(/^signalbox: waiting why="(.*)"$/, "waits: $1").replaceAll('\\"', '"');
}

function chapter(title: string): void {
  console.log(`\n${title}`);
}

function say(host: string, text: string): void {
  if (host === "") console.log(text);
  else
    console.log(
      `  ${((performance.now() - started) / 1000).toFixed(2).padStart(5)} s  ${host.padEnd(5)} ${text}`,
    );
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits until something holds, or for some milliseconds at most. */
async function until(holds: () => boolean, ms = Number.POSITIVE_INFINITY): Promise<void> {
  const limit = performance.now() + ms;
  while (!holds() && performance.now() < limit) await new Promise((resolve) => setTimeout(resolve, 5));
}
