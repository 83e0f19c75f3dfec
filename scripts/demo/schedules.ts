import { startSignalbox } from "../../fixtures/signalbox.ts";
import type { Store } from "../../src/core/etcd/store.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { type Definition, formatDefinition } from "../../src/schedule/definition.ts";
import { formatDue } from "../../src/schedule/state/due.ts";
import { computeFirstDue } from "../../src/schedule/state/due-transitions.ts";

const buildSleepCommand = (seconds: number, says: string) => [
  "sh",
  "-c",
  `echo ${says}; sleep ${seconds}; echo done`,
];
const MINUTE = 60_000;

/** Schedules of the site. Jitter spreads their runs over the minute. */
const SCHEDULES: Readonly<Record<string, Partial<Definition>>> = {
  "heartbeat.check": { cron: "* * * * *", command: buildSleepCommand(3, "all hosts answer") },
  "mail.digest": { cron: "* * * * *", jitter: 40_000, command: buildSleepCommand(8, "12 digests") },
  "search.reindex": { cron: "*/2 * * * *", jitter: 50_000, command: buildSleepCommand(40, "reindexing") },
  "feeds.pull": { cron: "*/3 * * * *", jitter: 30_000, command: buildSleepCommand(5, "3 feeds") },
  "partner.sync": {
    cron: "* * * * *",
    jitter: 20_000,
    retries: 2,
    backoff: 10_000,
    command: ["sh", "-c", "echo connecting to partner; echo 'FATAL: connection refused' >&2; exit 3"],
  },
  "db-backup": {
    cron: "0 3 * * *",
    timezone: "Europe/Berlin",
    group: "databases",
    command: buildSleepCommand(9, "dump"),
  },
  "invoices.export": { cron: "30 6 1 * *", timezone: "Europe/Berlin", catchup: "latest", type: "report" },
  "certs.renew": {
    cron: "15 4 * * *",
    jitter: 10 * MINUTE,
    command: buildSleepCommand(4, "nothing is due"),
    pause: { by: "bob@ops1.example.com", at: Date.now() - 3 * 60 * MINUTE, why: "the CA is being moved" },
  },
};

/** Writes the schedules, and starts the workers. @returns a function that ends the workers */
export async function startWorkers(store: Store, endpoints: readonly string[]): Promise<() => Promise<void>> {
  const keys = createKeys("/signalbox/");
  const success = Object.entries(SCHEDULES).flatMap(([id, one]) => {
    const definition: Definition = { cron: "@daily", timezone: "UTC", ...one };
    const due = computeFirstDue(id, definition, Date.now());
    return [
      { op: "put" as const, key: keys.schedule(id), value: formatDefinition(definition) },
      { op: "put" as const, key: keys.due(id), value: formatDue(due) },
    ];
  });
  await store.commitTxn({ compare: [], success, failure: [] });
  const workers = ["web1", "db1"].map((host) =>
    startSignalbox(["worker", "-q", "--host", `${host}.example.com`, "--concurrency", "2"], { endpoints }),
  );
  return async () => {
    for (const { child } of workers) child.kill("SIGKILL");
    await Promise.all(workers.map(({ ended }) => ended));
  };
}
