import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest. They come first, or the last of them would go on alone; on a fresh checkout vitest knows
 * only how large files are. Those that compute much stand between those that wait for processes.
 */
const LONGEST = [
  ...["simulation/schedules", "simulation/mutants", "safety/faults/two-clusters", "safety/queues/races"],
  ...[
    "scripts/maintenance",
    "safety/operate/drain-race",
    "safety/schedules/chaos",
    "schedule/occurrence-oracle",
  ],
  ...[
    "safety/check/doctor",
    "safety/observe/ls.",
    "safety/operate/configure-documents",
    "safety/console/trust",
  ],
  ...[
    "safety/observe/followed-snapshot",
    "safety/schedules/commands",
    "safety/queues/",
    "safety/etcd/logins",
  ],
  ...[
    "safety/etcd/secured",
    "safety/console/",
    "safety/runs/exits",
    "safety/runs/death",
    "safety/operate/drain.",
  ],
  ...[
    "safety/front-ends/cronlock",
    "safety/runs/host-facts",
    "safety/operate/reset",
    "safety/operate/configure",
  ],
  ...["safety/front-ends/perfectsched", "safety/command-line/command-line"],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((part) => moduleId.includes(`/test/${part}`));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** What `npm test` leaves to `npm run test:long`: faults, attacks, the console in a terminal, long simulations, many rounds. */
const LONG = "test/**/*.long.test.ts";

/** Folders whose tests start nothing and change nothing outside of themselves: their files share what is loaded. */
const RULES = [
  "base",
  "commands",
  "compat",
  "config",
  "console",
  "fleet",
  "syntax",
  "model",
  "protocol",
  "schedule",
  "work/operate",
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Random tests take their choices from it (fixtures/test-seed.ts). It is printed once; SEED=N repeats the choices of a run. */
if (process.env.SEED === undefined) process.env.SEED = String(Math.floor(Math.random() * 2 ** 31));
console.error(`SEED=${process.env.SEED}`);

export default defineConfig({
  test: {
    setupFiles: ["fixtures/seed-properties.ts"],
    // Against what never ends: a slow machine may take ten times as long as a fast one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Tests that run side by side wait for timers and processes most of the time.
    maxConcurrency: 8,
    sequence: { sequencer: LongestFirst },
    // On two cores vitest takes one worker, though most tests wait for real processes. A third one makes sessions of 3 s lapse.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: "rules", include: RULES, exclude: [LONG], isolate: false } },
      { extends: true, test: { name: "world", include: ["test/**/*.test.ts"], exclude: [...RULES, LONG] } },
      { extends: true, test: { name: "long", include: [LONG] } },
    ],
  },
});
