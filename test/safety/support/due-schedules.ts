/** Schedules that are due, for tests of workers. */

import { existsSync } from "node:fs";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { type OccurrenceOutcome, parseOutcomes } from "../../../src/schedule/state/outcome.ts";

/** Puts a schedule that was due a moment ago, once. */
export async function putDueSchedule(
  namespace: TestNamespace,
  id: string,
  more: Partial<Definition> = {},
): Promise<void> {
  const now = Date.now();
  const definition: Definition = { cron: "0 0 1 1 *", timezone: "UTC", ...more };
  await namespace.put(namespace.keys.due(id), JSON.stringify({ v: 1, next: now - 50, runAt: now - 50 }));
  await namespace.put(namespace.keys.schedule(id), formatDefinition(definition));
}

/** What a schedule remembers now, newest first. */
export async function readOutcomes(
  namespace: TestNamespace,
  id: string,
  host?: string,
): Promise<readonly OccurrenceOutcome[]> {
  return parseOutcomes(await namespace.readValue(namespace.keys.outcomes(id, host))).runs;
}

/** What it remembers, newest first, as soon as that is so much. */
export const waitForOutcomes = (namespace: TestNamespace, id: string, count = 1) =>
  waitUntil(`outcome of ${id}`, async () => {
    const runs = await readOutcomes(namespace, id);
    return runs.length >= count && runs;
  });

/** A command of the shell that says by a file that it runs, and ends when there is another one. */
export const buildWaitingScript = (there: string, gate: string) =>
  `touch ${there}; until [ -e ${gate} ]; do sleep 0.02; done; echo let go`;
export const runShell = (script: string) => ["sh", "-c", script];
export const waitForFile = (path: string) => waitUntil(`file ${path}`, () => existsSync(path));
/** A worker logs it when it has its session. */
export const WORKER_JOINED = /worker joined/;

/** Starts a worker on a host, and waits until it has its session. */
export async function startWorker(namespace: TestNamespace, host: string): Promise<TestProcess> {
  const worker = namespace.start("worker", { env: { SIGNALBOX_HOST: host } });
  await worker.waitForOutput(WORKER_JOINED);
  return worker;
}
