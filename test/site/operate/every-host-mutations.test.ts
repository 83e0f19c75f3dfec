/** What changes of a schedule that runs on every host do to the states of its hosts. */

import { expect, test } from "vitest";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { DueState } from "../../../src/schedule/state/due.ts";
import {
  buildBackfillMutation,
  buildModifyMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildTriggerMutation,
} from "../../../src/site/operate/schedule-mutations.ts";
import type {
  PlannedChange,
  ScheduleReadResult,
  StoredSchedule,
} from "../../../src/site/operate/stored-schedules.ts";

const NOW = Date.parse("2026-03-02T10:00:30Z");
const MINUTE = 60_000;
const at = (minute: number) => Date.parse("2026-03-02T10:00:00Z") + minute * MINUTE;
const DEFINITION: Definition = { cron: "*/5 * * * *", timezone: "UTC", on: "every-host" };
const OWN_PAUSE = { by: "signalbox", at: 1, why: "after 1 failure" };

function createStored(hosts: Record<string, Partial<DueState>>, change: Partial<Definition> = {}) {
  const definition = { ...DEFINITION, ...change };
  const common = { id: "job", definition, definitionMod: 7n, dueMod: 8n, outcomesMod: 0n };
  const outcomes = { runs: [], dead: [] };
  const parts = Object.entries(hosts).map(([host, due]) => ({
    ...common,
    host,
    outcomes,
    due: { next: at(5), runAt: at(5), open: [], ...due },
  }));
  // Its own state stays where it was when the schedule was added, long ago.
  const schedule: StoredSchedule = {
    ...common,
    outcomes,
    due: { next: at(-9_000), runAt: at(-9_000), open: [] },
    ...(parts.length > 0 && { hosts: parts }),
  };
  const stored: ScheduleReadResult = {
    revision: 9n,
    schedules: new Map([["job", schedule]]),
    calendars: new Map(),
  };
  return stored;
}

const listByHost = (changes: readonly PlannedChange[]) =>
  Object.fromEntries(changes.map((change) => [change.before.host ?? "-", change]));

test("a new time applies from now on, also on the hosts, but not to what is due there", () => {
  const stored = createStored({ web1: {}, web2: { next: at(-5), runAt: at(-5) } });
  const edit = buildModifyMutation(["job"], (before) => ({ ...DEFINITION, ...before, cron: "*/7 * * * *" }));
  const { "-": own, ...hosts } = listByHost(edit.decide(stored, NOW));
  expect(own).toMatchObject({ definition: { cron: "*/7 * * * *" }, due: { next: at(7) } });
  expect(Object.keys(hosts)).toEqual(["web1"]);
  expect(hosts.web1).toMatchObject({ due: { next: at(7) } });
  expect(hosts.web1?.definition, "it is written once").toBeUndefined();
});

test.for([
  { name: "in the future, for example because of --start", first: 60 * 24 },
  { name: "in the past, for hosts that could not begin yet", first: -5 },
])("an edit of other fields keeps the first occurrence: $name", ({ first }) => {
  const stored = createStored({});
  const due = { next: at(first), runAt: at(first), open: [] };
  for (const [id, one] of stored.schedules)
    (stored.schedules as Map<string, StoredSchedule>).set(id, { ...one, due });
  const edit = buildModifyMutation(["job"], (before) => ({ ...DEFINITION, ...before, note: "n" }));
  const [own] = edit.decide(stored, NOW);
  expect(own?.definition?.note).toBe("n");
  expect(own?.due ?? due).toEqual(due);
});

test("on one host again, it goes on from now, and the hosts are forgotten", () => {
  const edit = buildModifyMutation(["job"], () => ({ cron: "*/5 * * * *", timezone: "UTC" }));
  const changes = edit.decide(createStored({ web1: {} }), NOW);
  expect(changes).toHaveLength(1);
  expect(changes[0]).toMatchObject({ due: { next: at(5), open: [] } });
});

test("resume ends the pauses of the hosts, and only those", () => {
  const missed = { next: at(-5), runAt: at(-5) };
  const stored = createStored({ web1: { ...missed, pause: OWN_PAUSE, failed: 1 }, web2: missed });
  const changes = listByHost(buildResumeMutation(["job"]).decide(stored, NOW));
  expect(Object.keys(changes)).toEqual(["web1"]);
  expect(changes.web1?.due).toEqual({ next: at(5), runAt: at(5), open: [] });
});

test("resume after an operator's pause skips on every host what the pause prevented", () => {
  const pause = { by: "ann", at: 1 };
  const stored = createStored({ web1: { next: at(-5), runAt: at(-5) }, web2: {} }, { pause });
  const { "-": own, ...hosts } = listByHost(buildResumeMutation(["job"]).decide(stored, NOW));
  expect(own?.definition).toEqual(DEFINITION);
  expect(hosts.web1?.due?.next).toBe(at(5));
  expect(Object.keys(hosts)).toEqual(["web1"]);
});

test("an operator's pause takes the place of those of the hosts", () => {
  const stored = createStored({ web1: { pause: OWN_PAUSE }, web2: {} });
  const { "-": own, ...hosts } = listByHost(buildPauseMutation(["job"], { by: "ann" }).decide(stored, NOW));
  expect(own?.definition?.pause).toMatchObject({ by: "ann" });
  expect(Object.keys(hosts)).toEqual(["web1"]);
  expect(hosts.web1?.due?.pause).toBeUndefined();
});

test("a trigger and a backfill are for each host that has a state; without one they are refused", () => {
  const stored = createStored({ web1: {}, web2: {} });
  const triggered = buildTriggerMutation(["job"]).decide(stored, NOW);
  expect(triggered.map(({ before, due }) => [before.host, due?.open.length])).toEqual([
    ["web1", 1],
    ["web2", 1],
  ]);
  const range = { from: at(-60), to: at(-30), parallel: 1 };
  const filled = buildBackfillMutation("job", range).decide(stored, NOW);
  expect(filled.map(({ before, due }) => [before.host, due?.backfill?.total])).toEqual([
    ["web1", 7],
    ["web2", 7],
  ]);
  expect(() => buildTriggerMutation(["job"]).decide(createStored({}), NOW)).toThrow(
    /no host runs schedule "job" yet/,
  );
});
