import { expect, test } from "vitest";
import {
  abandonCommand,
  canCreateCgroups,
  createCgroupHome,
  createMark,
  startRunner,
} from "../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

test.runIf(canCreateCgroups)(
  "a command without guardians is killed by a run that started before",
  async () => {
    const home = createCgroupHome();
    const order = { command: ["sleep", "1000"] as [string, string], termIn: 1_000_000, killIn: 1_000_000 };
    const run = startRunner(createMark(), order, {}, home.before);
    await run.waitForEvent("started");
    const sleeper = await abandonCommand(home);
    await waitUntil("its end", () => sleeper.find() === undefined, { ms: 120_000, every: 500 });
    expect(run.process.exitCode).toBeNull();
  },
);
