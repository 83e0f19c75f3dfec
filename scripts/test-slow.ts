import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readArguments, readNumber, refuseArguments } from "./arguments.ts";
import { type Failure, takeReport } from "./test-report/report.ts";
import { addLoad, type SlowMachine, slowDown } from "./test-slow/slow-machine.ts";

const HELP = `npm run test:slow -- [--times N] [--cpus PART | --load COUNT] [vitest's filters]

Runs the tests as on a slow or busy machine, without filters those of \`npm test\`. A test that fails here depends on the speed of the
machine, or on chance.

  --times N     number of passes (default: 3)
  --cpus PART   part of a processor that the tests get (default: 0.5). Without control groups, which need root, busy loops
                run beside them instead
  --load COUNT  the tests get whole processors, beside so many busy loops, of which one writes to the disk`;

const { values, positionals } = readArguments(HELP, {
  times: { type: "string", default: "3" },
  cpus: { type: "string", default: "0.5" },
  load: { type: "string" },
});
const times = readNumber(HELP, "times", values.times);
if (times === 0) refuseArguments(HELP, "--times must be above 0");
const cpus = Number(values.cpus);
if (!(cpus > 0)) refuseArguments(HELP, `--cpus must be a number above 0; got ${JSON.stringify(values.cpus)}`);
const load = values.load === undefined ? 0 : readNumber(HELP, "load", values.load);

const folder = mkdtempSync(path.join(tmpdir(), "signalbox-test-slow-"));
const machine = load > 0 ? addLoad(load, folder) : slowDown(cpus);
console.error(`running the tests ${times} times with ${machine.description}`);
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => interrupted.abort());
const failures: Failure[] = [];
for (let pass = 1; pass <= times && !interrupted.signal.aborted; pass += 1)
  failures.push(...(await runPass(pass, machine)));
const left = await machine.close();
rmSync(folder, { recursive: true, force: true });
report(failures, left);
process.exitCode = failures.length + left.length > 0 ? 1 : 0;

async function runPass(pass: number, { prefix }: SlowMachine): Promise<Failure[]> {
  const file = path.join(folder, `${pass}.json`);
  const reporters = ["--reporter=dot", "--reporter=./scripts/test-report/reporter.ts"];
  const tool = positionals.length === 0 ? ["npm", "test", "--"] : ["vitest", "run", ...positionals];
  const [command = "", ...args] = [...prefix, ...tool, ...reporters];
  const since = performance.now();
  const env = { ...process.env, TEST_REPORT: file };
  const tests = spawn(command, args, { env, stdio: ["ignore", "inherit", "inherit"] });
  interrupted.signal.addEventListener("abort", () => tests.kill("SIGINT"));
  const [code] = await once(tests, "exit");
  if (interrupted.signal.aborted) return [buildRunFailure("it was interrupted")];
  const { failures: found = [], errors = [] } = takeReport(file) ?? {};
  found.push(...errors.map(buildRunFailure));
  const seconds = Math.round((performance.now() - since) / 1000);
  console.error(`pass ${pass} of ${times}: ${found.length} failed, ${seconds} s`);
  return code === 0 || found.length > 0 ? found : [buildRunFailure(`ended with ${code}`)];
}

function buildRunFailure(message: string): Failure {
  return { file: "", test: "vitest", message };
}

function report(failed: readonly Failure[], left: readonly number[]): void {
  const byTest = Map.groupBy(failed, ({ test }) => test);
  for (const [test, all] of byTest) {
    console.error(`\nfailed ${all.length} of ${times}: ${test}\n${all[0]?.message ?? ""}`);
  }
  if (left.length > 0) console.error(`processes left behind: ${left.join(", ")}`);
  console.error(`\n${byTest.size === 0 ? "no test failed" : `${byTest.size} tests failed`}`);
}
