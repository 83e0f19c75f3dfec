/** Schedules that are due, for tests of workers. */
import { existsSync } from "node:fs";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { type OccurrenceOutcome, parseOutcomes } from "../../../src/schedule/state/outcome.ts";
import { eventually, type Room } from "./house.ts";

/** Puts a schedule that was due a moment ago, once. */
export async function due(room: Room, id: string, more: Partial<Definition> = {}): Promise<void> {
  const now = Date.now();
  const definition: Definition = { cron: "0 0 1 1 *", timezone: "UTC", ...more };
  await room.put(room.keys.due(id), JSON.stringify({ v: 1, next: now - 50, runAt: now - 50 }));
  await room.put(room.keys.schedule(id), formatDefinition(definition));
}

/** What a schedule remembers now, newest first. */
export async function outcomes(room: Room, id: string): Promise<readonly OccurrenceOutcome[]> {
  const { kvs } = await room.store.readRange({ key: room.keys.outcomes(id) });
  return parseOutcomes(kvs[0]?.value).runs;
}

/** What it remembers, newest first, as soon as that is so much. */
export const outcome = (room: Room, id: string, count = 1) =>
  eventually(`outcome of ${id}`, async () => {
    const runs = await outcomes(room, id);
    return runs.length >= count && runs;
  });

/** A command of the shell that says by a file that it runs, and ends when there is another one. */
export const HOLD = (there: string, gate: string) =>
  `touch ${there}; until [ -e ${gate} ]; do sleep 0.02; done; echo let go`;
export const sh = (script: string) => ["sh", "-c", script];
export const exists = (path: string) => eventually(`file ${path}`, () => existsSync(path));
/** A worker logs it when it has its session. */
export const READY = /worker joined/;
