import type { Keys } from "../../src/core/protocol/keys.ts";
import type { Op } from "../../src/core/protocol/txn.ts";
import { type Definition, formatDefinition } from "../../src/schedule/definition.ts";
import { type DueState, formatDue, type LastOccurrence } from "../../src/schedule/state/due.ts";
import { formatOutcomes, type OccurrenceOutcome } from "../../src/schedule/state/outcome.ts";
import { formatRunning, formatWorker } from "../../src/schedule/state/running-record.ts";

/** The present time of the scene. Wall clock, ms since the epoch. */
const WALL = Date.parse("2026-03-03T03:12:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The session of the workers. */
export const WORKERS_SESSION = 77n;

interface SceneSchedule {
  cron: string;
  /** Time until the next occurrence, ms. */
  next: number;
  /** Result of the last occurrence, and the time since its end, ms. */
  last?: readonly [result: LastOccurrence["result"], ago: number, took: number];
  /** Time since a worker started it, ms. */
  since?: number;
  more?: Partial<Definition>;
}

const SCHEDULES: Readonly<Record<string, SceneSchedule>> = {
  "db-backup": {
    cron: "0 3 * * *",
    next: 23 * HOUR + 48 * MINUTE,
    since: 12 * MINUTE,
    last: ["ok", 23 * HOUR, HOUR],
    more: {
      command: ["db-backup", "--all"],
      group: "databases",
      timeout: 4 * HOUR,
    },
  },
  "mail.digest": { cron: "15 * * * *", next: 3 * MINUTE, last: ["ok", 56 * MINUTE, 40_000] },
  "mail.bounces": { cron: "*/5 * * * *", next: 3 * MINUTE, last: ["ok", 2 * MINUTE, 4_000] },
  "invoices.export": {
    cron: "0 2 * * *",
    next: 22 * HOUR + 48 * MINUTE,
    last: ["failed", 71 * MINUTE, 9_000],
    more: { command: ["invoices", "--export"], retries: 2 },
  },
  "search.reindex": {
    cron: "30 1 * * 0",
    next: 4 * 24 * HOUR + 22 * HOUR + 18 * MINUTE,
    last: ["ok", 50 * HOUR, 3 * HOUR],
    more: {
      jitter: 10 * MINUTE,
      pause: { by: "ann@ops1", at: WALL - 20 * HOUR, why: "the cluster is being moved" },
    },
  },
  "reports.weekly": {
    cron: "0 6 * * 1",
    next: 6 * 24 * HOUR + 2 * HOUR + 48 * MINUTE,
    more: { type: "report" },
  },
  "certs.renew": {
    cron: "12 4 * * *",
    next: HOUR,
    last: ["ok", 23 * HOUR, 11_000],
    more: { command: ["certbot"] },
  },
};

/** Creates the keys of schedules and workers. */
export function createSchedules(keys: Keys): Op[] {
  const createPut = (key: string, value: string, session?: bigint): Op => ({
    op: "put",
    key,
    value,
    ...(session !== undefined && { session }),
  });
  return [
    ...createWorkers().map(([id, text]) => createPut(keys.worker(id), text, WORKERS_SESSION)),
    ...Object.entries(SCHEDULES).flatMap(([id, scene]) => [
      createPut(keys.schedule(id), formatDefinition({ timezone: "UTC", cron: scene.cron, ...scene.more })),
      createPut(keys.due(id), formatDue(createDue(scene))),
      ...(scene.last === undefined ? [] : [createPut(keys.outcomes(id), createMemory(scene))]),
      ...(scene.since === undefined
        ? []
        : [createPut(keys.running(id), createRunning(scene.since), WORKERS_SESSION)]),
    ]),
  ];
}

function createDue({ next, last, since }: SceneSchedule): DueState {
  const runAt = WALL + next;
  const open =
    since === undefined
      ? []
      : [{ scheduled: WALL - since, runAt: WALL - since, attempt: 1, failures: 0, kind: "due" as const }];
  const dead = last?.[0] === "failed" ? { dead: 1 } : {};
  return { next: runAt, runAt, open, ...(last !== undefined && { last: createLast(last) }), ...dead };
}

function createLast([result, ago, took]: NonNullable<SceneSchedule["last"]>): LastOccurrence {
  const endedAt = WALL - ago;
  return {
    result,
    endedAt,
    startedAt: endedAt - took,
    scheduled: endedAt - took - 300,
    late: 300,
    run: "r1",
  };
}

function createMemory({ last }: SceneSchedule): string {
  if (last === undefined) return "";
  const tail = last[0] === "failed" ? "connecting to db1\nFATAL: remaining slots are reserved\n" : "done\n";
  const run: OccurrenceOutcome = {
    ...createLast(last),
    worker: "w1",
    host: "web1.example.com",
    attempt: 3,
    token: "41",
    tail,
    ...(last[0] === "failed" && { code: 2, reason: "exit 2" }),
  };
  return formatOutcomes({ runs: [run], dead: last[0] === "failed" ? [run] : [] });
}

function createRunning(since: number): string {
  const [scheduled, run] = [WALL - since, "5k2c8q0v7m3x9d1t"];
  const at = { worker: "w2", host: "db1.example.com", pid: 2210, run, scheduled, attempt: 1 };
  return formatRunning({ ...at, since: scheduled + 400, late: 400 });
}

function createWorkers(): [id: string, text: string][] {
  const shared = {
    version: "0.1.0",
    since: WALL - 9 * 24 * HOUR,
    wall: WALL,
    beat: 8,
    tags: [],
    concurrency: 8,
  };
  const types = ["mail", "search", "/^invoices/", "$command"];
  return [
    ["w1", formatWorker({ ...shared, host: "web1.example.com", pid: 3180, types, running: 0, clock: "ok" })],
    [
      "w2",
      formatWorker({
        ...shared,
        host: "db1.example.com",
        pid: 2210,
        types: ["$command"],
        running: 1,
        clock: "ok",
      }),
    ],
  ];
}
