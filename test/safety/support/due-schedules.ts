/** Schedules that are due, for tests of workers. */
import { existsSync } from "node:fs";
import { type Room, waitUntil } from "../../../fixtures/cluster/test-cluster.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { type OccurrenceOutcome, parseOutcomes } from "../../../src/schedule/state/outcome.ts";

/** Puts a schedule that was due a moment ago, once. */
export async function putDueSchedule(room: Room, id: string, more: Partial<Definition> = {}): Promise<void> {
  const now = Date.now();
  const definition: Definition = { cron: "0 0 1 1 *", timezone: "UTC", ...more };
  await room.put(room.keys.due(id), JSON.stringify({ v: 1, next: now - 50, runAt: now - 50 }));
  await room.put(room.keys.schedule(id), formatDefinition(definition));
}

/** What a schedule remembers now, newest first. */
export async function readOutcomes(room: Room, id: string): Promise<readonly OccurrenceOutcome[]> {
  const { kvs } = await room.store.readRange({ key: room.keys.outcomes(id) });
  return parseOutcomes(kvs[0]?.value).runs;
}

/** What it remembers, newest first, as soon as that is so much. */
export const waitForOutcomes = (room: Room, id: string, count = 1) =>
  waitUntil(`outcome of ${id}`, async () => {
    const runs = await readOutcomes(room, id);
    return runs.length >= count && runs;
  });

/** A command of the shell that says by a file that it runs, and ends when there is another one. */
export const buildWaitingScript = (there: string, gate: string) =>
  `touch ${there}; until [ -e ${gate} ]; do sleep 0.02; done; echo let go`;
export const runShell = (script: string) => ["sh", "-c", script];
export const waitForFile = (path: string) => waitUntil(`file ${path}`, () => existsSync(path));
/** A worker logs it when it has its session. */
export const WORKER_JOINED = /the worker is there/;
