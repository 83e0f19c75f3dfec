import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, seconds each. They come first, or the last of them would go on alone; on a fresh checkout
 * vitest knows only how large files are. Those that compute stand between those that wait for processes.
 */
const LONG = [
  ...["simulation/schedules", "safety/reset", "safety/cluster", "scripts/maintenance"],
  ...["safety/races", "safety/cuts", "safety/drain", "safety/ls", "safety/doctor", "safety/queues-leases"],
  ...["process/deadlines", "safety/drain-race", "safety/show", "simulation/mutants", "safety/secured"],
  ...["safety/configure-documents", "safety/queues-watches", "safety/death", "safety/configure"],
  ...[
    "safety/queues-operators",
    "safety/completion",
    "safety/answers",
    "etcd/grpc-faults",
    "etcd/http-faults",
  ],
  ...["safety/exits", "safety/drain-restart", "safety/host-facts", "process/runner-death", "work/observe"],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((part) => moduleId.includes(`/test/${part}`));
      // The console's are long too: a real terminal each.
      return at >= 0 ? at : moduleId.includes("/test/safety/console") ? 0 : LONG.length;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
    // On two cores vitest takes one worker. Most tests wait for real processes, so three take little more than a third.
    maxWorkers: 3,
  },
});
