import { playAgentSchedule } from "../fixtures/simulation/agent/agent-schedule.ts";
import { SCENARIOS } from "../fixtures/simulation/scenarios.ts";
import { playSchedule, type SimulationReport } from "../fixtures/simulation/schedule.ts";
import { isOfHistory } from "../fixtures/simulation/simulation.ts";
import { playWorkerSchedule } from "../fixtures/simulation/workers/worker-schedule.ts";
import { readArguments, readNumber } from "./arguments.ts";

const HELP = `npm run simulate -- [--count N] [--seed S] [--bail] [--trace] [--history] [--combined | --agent | --workers]
npm run simulate -- --scenario NAME

Plays random schedules of the real code of runs, agents or workers in simulated time, and checks the invariants of docs/safety.md
at every step. A violation prints the seed that replays it.

  --count N        number of schedules (default: 1 with --seed, otherwise 1000000)
  --seed S         first seed (default: 1)
  --bail           stop at the first violation (default: at the tenth)
  --trace          print every event
  --history        only what the histories of claims show is a violation
  --combined       runs that combine their transactions
  --agent          agents instead of runs
  --workers        workers instead of runs
  --scenario NAME  a scenario of fixtures/simulation/scenarios.ts`;

const { values } = readArguments(HELP, {
  count: { type: "string" },
  seed: { type: "string" },
  bail: { type: "boolean" },
  trace: { type: "boolean" },
  history: { type: "boolean" },
  combined: { type: "boolean" },
  agent: { type: "boolean" },
  workers: { type: "boolean" },
  scenario: { type: "string" },
});
if (values.scenario !== undefined) {
  const scenario = SCENARIOS[values.scenario];
  const violations = scenario
    ? selectViolations(await scenario())
    : [`there is no scenario ${values.scenario}`];
  console.log(violations.map((violation) => `scenario ${values.scenario}:\n  ${violation}`).join("\n"));
  process.exit(violations.length > 0 ? 1 : 0);
}
// Stack traces of unanswered simulated calls are not printed, and recording them takes a fifth of the time.
if (!values.trace) Error.stackTraceLimit = 0;
const count = readNumber(HELP, "count", values.count ?? (values.seed === undefined ? "1000000" : "1"));
const first = readNumber(HELP, "seed", values.seed ?? "1");
const exits = new Map<number | string, number>();
let bad = 0;
let grants = 0;
const started = performance.now();

for (let seed = first; seed < first + count; seed += 1) {
  const trace = values.trace ? printEvent : undefined;
  const report = await playSeed(seed, trace);
  grants += report.grants;
  for (const exit of report.exits) exits.set(exit, (exits.get(exit) ?? 0) + 1);
  const violations = selectViolations(report.violations);
  if (violations.length > 0) {
    bad += 1;
    console.log(`seed ${seed}:\n  ${violations.slice(0, 5).join("\n  ")}`);
    if (bad >= (values.bail ? 1 : 10)) break;
  }
  if ((seed - first + 1) % 10_000 === 0) printProgress(seed - first + 1);
}
printProgress(count);
console.log(`exit codes: ${[...exits].map(([exit, times]) => `${exit}: ${times}`).join(", ")}`);
process.exitCode = bad > 0 ? 1 : 0;

function selectViolations(violations: readonly string[]): readonly string[] {
  return values.history ? violations.filter(isOfHistory) : violations;
}

function playSeed(seed: number, trace: typeof printEvent | undefined): Promise<SimulationReport> {
  if (values.agent) return playAgentSchedule(seed, { trace });
  if (values.workers) return playWorkerSchedule(seed, { trace });
  return playSchedule(seed, { trace, combines: values.combined === true });
}

function printEvent(now: number, text: string): void {
  console.log(`${now.toFixed(0).padStart(7)} ${text}`);
}

function printProgress(done: number): void {
  const seconds = (performance.now() - started) / 1000;
  console.log(`${done} schedules, ${grants} grants, ${bad} bad, ${seconds.toFixed(1)} s`);
}
