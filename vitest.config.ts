import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The test files that take longest, in the order in which they start. If they started last, one of them would run alone at
 * the end; in a fresh checkout, vitest only knows the sizes of files. Files that compute are mixed with files that wait.
 */
const LONGEST = [
  "core/etcd/memory/differential",
  "simulation/mutants",
  "safety/runs/conditions",
  "safety/schedules/expectations",
  "safety/schedules/pause-after-failures",
  "safety/operate/drain",
  "safety/operate/reset",
  "safety/queues/",
  "safety/runs/exits",
  "safety/runs/death",
  "core/process/runner-death",
  "core/process/groups",
  "site/operate/site-calendars",
];

/** Those of the project `rules` come last: they are short, so that all workers end together; and a worker serves one project only. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const at = LONGEST.findIndex((part) => moduleId.includes(`/test/${part}`));
      if (project.name === "rules") return LONGEST.length + 1;
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Tests of `npm run test:long`, which `npm test` leaves out: faults, attacks, the console in a terminal, long simulations. */
const LONG = "test/**/*.long.test.ts";

/** Tests of `npm run test:packages` (vitest.packages.config.ts). */
const PACKAGES = "test/packages/**";

/** The test of `npm run test:hosts` (vitest.hosts.config.ts). */
const HOSTS = "test/hosts/**";

/** Tests of `npm run test:runtimes` (vitest.runtimes.config.ts). */
const RUNTIMES = "test/runtimes/**";

/**
 * Tests of `npm run test:further`, which `npm test` leaves out too: a third of the processor time of all that are not long, for what
 * holds no claim by itself, such as front ends, what is shown and kept of runs, and examples.
 */
const FURTHER = [
  "{bin,scripts}/**/*",
  "library/package",
  "safety/{command-line,front-ends,observe}/**/*",
  "safety/etcd/{etcd-page,role-bypass}",
  "safety/library/{examples,page-examples}",
  "safety/schedules/{chains,checkpoints,run-as}",
  "simulation/{histories,schedules}",
  "site/{check,output}/**/*",
].map((name) => `test/${name}.test.ts`);

/** Folders whose tests start no processes and have no side effects. */
const RULES = [
  "core/base",
  "cli/commands",
  "cli/frame",
  "compat",
  "core/config",
  "console",
  "core/fleet",
  "cli/syntax",
  "site/state",
  "cli/views",
  "core/protocol",
  "schedule",
].map((folder) => `test/${folder}/**/*.test.ts`);

/** The seed of random tests (fixtures/test-seed.ts). It is printed once; SEED=N repeats a run with the same seed. */
if (process.env.SEED === undefined) process.env.SEED = String(Math.floor(Math.random() * 2 ** 31));
console.error(`SEED=${process.env.SEED}`);

const IN_PROCESS = {
  isolate: false,
  env: { SIGNALBOX_TEST_IN_PROCESS: "1" }, // fixtures/cluster/execute-in-process.ts
};

export default defineConfig({
  test: {
    reporters: ["default", "./scripts/test-report/reporter.ts"],
    setupFiles: ["fixtures/test-setup.ts"],
    env: {
      XDG_STATE_HOME: "/dev/null", // as NO_STATE of fixtures/signalbox.ts, for the library in tests
      NODE_COMPILE_CACHE: resolve(".cache/compiled"), // saves a fifth of each start of the program
    },
    // A limit for tests that never end. A slow machine may take ten times as long as a fast one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Concurrent tests wait for timers and processes most of the time.
    maxConcurrency: 8,
    sequence: { sequencer: LongestFirst },
    // The default on two cores is one worker, but most tests wait for processes. `npm test` has four: its tests load the machine less.
    maxWorkers: 2,
    projects: [
      // Files share loaded modules: loading them again for each file would take half of the processor's time. So helpers
      // must not register hooks when they are loaded.
      { extends: true, test: { name: "rules", include: RULES, exclude: [LONG], isolate: false } },
      {
        extends: true,
        test: {
          ...IN_PROCESS,
          name: "world",
          include: ["test/**/*.test.ts"],
          exclude: [...RULES, ...FURTHER, LONG, PACKAGES, HOSTS, RUNTIMES],
        },
      },
      { extends: true, test: { ...IN_PROCESS, name: "further", include: FURTHER, exclude: [LONG] } },
      { extends: true, test: { name: "long", include: [LONG], env: { SIGNALBOX_TEST_LONG: "1" } } },
    ],
  },
});
