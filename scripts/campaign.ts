/** Injects faults, chosen by a seed, into a cluster, hosts and jobs, and checks the promises: `npm run campaign -- --help`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { playCampaign } from "../fixtures/campaign/campaign.ts";
import { hasPassed, judgeFacts } from "../fixtures/campaign/check/index.ts";
import {
  buildCampaignReport,
  type CampaignReport,
  countFacts,
  describeCampaign,
  describeReports,
} from "../fixtures/campaign/report.ts";
import { readArguments, readNumber, refuseArguments } from "./arguments.ts";

/** A longer campaign is a series of campaigns, each with a process, a cluster and a folder of its own, so that nothing grows for hours. */
const LONGEST_SECONDS = 600;

const HELP = `npm run campaign -- [--seconds N] [--seed S] [--etcd VERSION] [--json] [--figures FILE]

Starts three members of etcd with a proxy in front of each port, and four simulated hosts with agents, runs and workers,
and injects faults. Every process of every job records when it ran. At the end, the records are compared with the promises of
docs/safety.md. Two negative controls, etcdctl lock and the lock of the npm package etcd3, must fail under the same faults.

  --seconds N     duration of the faults (default: 180); the checks afterwards take half a minute or more. More than ${LONGEST_SECONDS}
                  seconds are several campaigns, with the seeds S, S+1, …; one that fails does not end the series
  --seed S        seed of the faults and commands (default: random)
  --figures FILE  append a line of JSON with the figures of each campaign. Campaigns of the series that are in the file are not
                  repeated: the same command goes on with a series that was interrupted
  --etcd VERSION  version of etcd, such as 3.5.30 (default: as npm test)
  --containers    the jobs of runs and schedules are containers of podman; needs root, podman, runc, busybox-static, and
                  cgroup v2 at /sys/fs/cgroup
  --json          print figures and findings as JSON on standard output
  --keep          keep the folder with the journals even if nothing was found

Exit code 1: a promise was broken, or a control did not fail (the faults were too weak). The journals are then kept.`;

const { values } = readArguments(HELP, {
  seconds: { type: "string", default: "180" },
  seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
  etcd: { type: "string" },
  containers: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
  figures: { type: "string" },
});
const seconds = readNumber(HELP, "seconds", values.seconds);
const seed = readNumber(HELP, "seed", values.seed);
if (seconds === 0) refuseArguments(HELP, "--seconds must be above 0");
await (seconds > LONGEST_SECONDS ? playSeries(seconds, seed) : main(seconds, seed));

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
    hasContainers: values.containers,
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
  const report = buildCampaignReport({ seed, seconds }, figures, verdict);
  if (values.figures !== undefined && !interrupted.signal.aborted)
    appendFileSync(values.figures, `${JSON.stringify(report)}\n`);
  if (values.json) console.log(JSON.stringify(report, undefined, 2));
  else console.log(describeCampaign(figures, verdict).join("\n"));
  if (values.keep || !isPassed) printLine(`seed ${seed}; journals: ${folder}`);
  // All child processes end with this process. Do not wait for calls to members that are gone.
  process.exit(isPassed ? 0 : 1);
}

/** Plays several campaigns, one after the other. */
async function playSeries(seconds: number, first: number): Promise<void> {
  const count = Math.ceil(seconds / LONGEST_SECONDS);
  const each = Math.ceil(seconds / count);
  const known = readReports(values.figures).filter((report) => report.seconds === each);
  const reports: CampaignReport[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const report = known.find((one) => one.seed === seed) ?? (await playOther(each, seed));
    if (report === undefined) break;
    reports.push(report);
    console.error(describeReports(reports).join("\n"));
  }
  if (values.json) console.log(JSON.stringify(reports, undefined, 2));
  if (reports.length < count || reports.some(({ passed }) => !passed)) process.exitCode = 1;
}

function readReports(file: string | undefined): CampaignReport[] {
  if (file === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line): CampaignReport => JSON.parse(line));
}

/** Plays a campaign in a process of its own. @returns its report; undefined if it was interrupted, or could not be set up */
async function playOther(seconds: number, seed: number): Promise<CampaignReport | undefined> {
  const words = ["--seconds", String(seconds), "--seed", String(seed), "--json"];
  for (const name of ["etcd", "figures"] as const)
    if (values[name] !== undefined) words.push(`--${name}`, values[name]);
  if (values.keep) words.push("--keep");
  if (values.containers) words.push("--containers");
  const child = spawn(process.execPath, [import.meta.filename, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    child.kill();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  const ended = once(child, "close");
  const printed = await text(child.stdout);
  await ended;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, interrupt);
  return isInterrupted || printed === "" ? undefined : JSON.parse(printed);
}
