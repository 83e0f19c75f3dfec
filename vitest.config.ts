import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest. They come first, or the last of them would go on alone; on a fresh checkout vitest knows
 * only how large files are. Those that compute much stand between those that wait for processes.
 */
const LONG = [
  ...["simulation/schedules", "safety/races", "safety/schedule-chaos", "safety/drain-race", "safety/doctor"],
  ...[
    "scripts/maintenance",
    "safety/cluster",
    "safety/queues-leases",
    "safety/cuts",
    "safety/console-attack",
  ],
  ...["safety/queues-watches", "safety/death", "safety/answers", "etcd/grpc-faults", "etcd/http-faults"],
  ...["work/schedule/faults", "safety/console-", "safety/drain-restart", "safety/drain.", "safety/ls."],
  ...["simulation/mutants", "safety/picture", "safety/host-facts", "safety/completion", "work/observe"],
  ...[
    "safety/show",
    "safety/configure-documents",
    "safety/queues-operators",
    "safety/secured",
    "safety/reset",
  ],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((part) => moduleId.includes(`/test/${part}`));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Rooms whose tests start nothing and change nothing outside of themselves: their files share what is loaded. */
const RULES = [
  "base",
  "commands",
  "compat",
  "config",
  "console",
  "fleet",
  "model",
  "protocol",
  "schedule",
  "work/operate",
].map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  test: {
    // Against what never ends: a slow machine may take ten times as long as a fast one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Tests that run side by side wait for timers and processes most of the time.
    maxConcurrency: 8,
    sequence: { sequencer: LongestFirst },
    // On two cores vitest takes one worker. Most tests wait for real processes: two halve the time, a third one saves a minute.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: "rules", include: RULES, isolate: false } },
      { extends: true, test: { name: "world", include: ["test/**/*.test.ts"], exclude: RULES } },
    ],
  },
});
