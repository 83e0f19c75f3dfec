/** A reporter of vitest. It writes the report, and prints how often tests were repeated after stalls. */
import path from "node:path";
import type { SerializedError } from "vitest";
import type { Reporter, TestCase, TestModule, TestRunEndReason } from "vitest/node";
import { type Failure, takeReport, writeReport } from "./report.ts";

/** More repetitions in one run mean that a test needs longer times, or that the machine is too busy to say anything. */
const MOST_REPETITIONS = 10;

export default class TestReporter implements Reporter {
  onInit(): void {
    takeReport(); // of an earlier run
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const errors = [...unhandled.map(describeError), ...modules.flatMap(listErrors)];
    if (reason === "interrupted") errors.push("the run was interrupted");
    const repetitions = countRepetitions(modules);
    const all = Object.values(repetitions).reduce((sum, count) => sum + count, 0);
    if (all > MOST_REPETITIONS) {
      errors.push(`tests were repeated ${all} times after stalls; at most ${MOST_REPETITIONS} are allowed`);
      process.exitCode = 1;
    }
    writeReport({ seed: process.env.SEED, failures: modules.flatMap(listFailures), errors, repetitions });
    if (all > 0) console.error(describeRepetitions(repetitions, all));
  }
}

const locate = ({ moduleId }: TestModule) => path.relative(process.cwd(), moduleId);

function listFailures(module: TestModule): Failure[] {
  const file = locate(module);
  return [...module.children.allTests("failed")].map((test) => ({
    file,
    test: `${file}: ${test.fullName}`,
    message: readMessage(test),
  }));
}

function readMessage(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return error === undefined ? "" : describeError(error);
}

/** Lists what failed in a file outside of its tests. */
function listErrors(module: TestModule): string[] {
  const errors = [module, ...module.children.allSuites()].flatMap((part) => part.errors());
  const texts = errors.map((error) => `${locate(module)}: ${describeError(error)}`);
  const hasEnded = !["queued", "pending"].includes(module.state());
  return hasEnded ? texts : [...texts, `${locate(module)}: it has not ended`];
}

/** Of a killed worker, only the cause says how it ended. */
function describeError({ name, message, cause }: SerializedError): string {
  const text = name ? `${name}: ${message}` : message;
  return cause === undefined || cause === null ? text : `${text} (${describeError(cause)})`;
}

function countRepetitions(modules: readonly TestModule[]): Record<string, number> {
  const counts = modules.map((module) => {
    const tests = [...module.children.allTests()];
    return [locate(module), tests.reduce((sum, test) => sum + (test.meta().repetitions ?? 0), 0)] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function describeRepetitions(repetitions: Readonly<Record<string, number>>, all: number): string {
  const lines = Object.entries(repetitions).map(([file, count]) => `  ${count}  ${file}`);
  return ["", `Repeated after stalls: ${all}, at most ${MOST_REPETITIONS} in a run`, ...lines].join("\n");
}
