/** Handlers with a task that a test can end, on the real guardian. */

import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { addMs } from "../../src/core/base/clock.ts";
import { type LogFields, silentLog } from "../../src/core/base/log.ts";
import { createGuardianHost } from "../../src/core/process/host.ts";
import { realRandom } from "../../src/core/process/random.ts";
import type { Definition } from "../../src/schedule/definition.ts";
import { type ScheduledTask, TaskLost } from "../../src/worker/handler.ts";
import type { HandlerPorts } from "../../src/worker/worker-ports.ts";
import { clock, createMark } from "../core/process/helpers.ts";

export interface HandlerFixture {
  mark: string;
  ports: HandlerPorts;
  /** Lines that handlers logged as output. */
  lines: string[];
}

export interface TestTask extends ScheduledTask {
  end(result: TaskLost["result"]): void;
  /** Moves the horizon to so many ms from now. */
  extend(ms: number): void;
}

export function createHandlerFixture(more: Partial<HandlerPorts> = {}): HandlerFixture {
  const mark = createMark();
  const lines: string[] = [];
  const info = (_: string, { line }: LogFields = {}) => {
    if (line !== undefined) lines.push(String(line));
  };
  const ports: HandlerPorts = {
    clock,
    random: realRandom,
    commands: createGuardianHost(clock),
    log: { ...silentLog, info },
    host: "a.example",
    secrets: [],
    terminationTimeout: 300,
    env: { PATH: process.env.PATH ?? "", TEST_MARK: mark },
    ...more,
  };
  return { mark, ports, lines };
}

export function createTask(more: Partial<Definition> = {}): TestTask {
  const ending = new AbortController();
  const listeners = new Set<() => void>();
  let horizon = addMs(clock.now(), 30_000);
  return {
    id: "reports.daily",
    type: "reports",
    key: "/p/running/reports.daily",
    token: "77",
    scheduled: Date.UTC(2026, 10, 21, 12),
    late: 40,
    attempt: 2,
    run: randomUUID(),
    definition: { cron: "* * * * *", timezone: "UTC", ...more },
    signal: ending.signal,
    reportProgress: () => {},
    saveCheckpoint: async () => {},
    getHorizon: () => horizon,
    onExtended(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end: (result) => ending.abort(new TaskLost(result, `it was ${result}`)),
    extend(ms) {
      horizon = addMs(clock.now(), ms);
      for (const listener of listeners) listener();
    },
  };
}

/** A file in a folder of its own, which goes with the test. */
export function writeTestFile(name: string, text: string): string {
  const path = join(createTestFolder(), name);
  writeFileSync(path, text);
  return path;
}
