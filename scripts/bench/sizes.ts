import { setTimeout as pause } from "node:timers/promises";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { VERSION } from "../../src/core/base/version.ts";
import { serializeHostRecord } from "../../src/core/fleet/host-record.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { connect, type Held, type NewSchedule, type Signalbox, Worker } from "../../src/library/index.ts";
import { getConnection } from "../../src/library/signalbox.ts";
import { executeAction } from "../../src/site/operate/operator-action.ts";
import { applyMutation } from "../../src/site/operate/schedule-mutation.ts";
import { buildBackfillMutation } from "../../src/site/operate/schedule-mutations.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { formatNumber, printNote, printTable } from "./figures.ts";

const keys = createKeys("/signalbox/");
/** Records of each kind; a tenth with --quick. */
const COUNT = 500;
/** Claims at the same time. */
const PARALLEL = 20;
const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Bytes in etcd's database for each record of a kind. */
interface RecordSize {
  /** Until a compaction. */
  written: number;
  /** After it. */
  kept: number;
  /** Revisions of etcd that it takes. */
  revisions: number;
}

/** Writes records of a kind. @returns a function that removes what must not stay for the next kind */
type WriteRecords = (signalbox: Signalbox, count: number) => Promise<(() => Promise<void>) | void>;

const KINDS = {
  lock: writeLocks,
  run: writeRuns,
  schedule: writeSchedules,
  occurrence: writeOccurrences,
  job: writeJobs,
  audit: writeAudit,
  host: writeHosts,
} satisfies Record<string, WriteRecords>;
type Kind = keyof typeof KINDS;

const NAMES: Record<Kind, string> = {
  lock: "a lock that is held",
  run: "a run of a lock, with its history of 20",
  schedule: "a schedule",
  occurrence: "an occurrence, with 20 outcomes",
  job: "a job of a program, added and done",
  audit: "an audit record",
  host: "a host",
};

/** Measures what records of each kind need in etcd's database: written, and after compaction and defragmentation. */
export async function benchmarkSizes(cluster: BenchCluster): Promise<void> {
  const count = cluster.quick ? COUNT / 10 : COUNT;
  const sizes = new Map<Kind, RecordSize>();
  const signalbox = await connect({ endpoints: [...cluster.endpoints], connectTimeout: "60s", env: {} });
  try {
    for (const kind of Object.keys(KINDS) as Kind[])
      sizes.set(kind, await measureKind(cluster, signalbox, KINDS[kind], count));
  } finally {
    await signalbox.close();
  }
  const getKept = (kind: Kind, holders: number) =>
    formatBytes(((sizes.get(kind)?.kept ?? Number.NaN) * count) / holders);
  const rows = [...sizes].map(([kind, { written, kept, revisions }]) => [
    NAMES[kind],
    formatBytes(written),
    formatBytes(kept),
    formatNumber(revisions),
    formatBytes(written / revisions),
  ]);
  printTable(
    `Bytes in etcd's database, ${count} records of each kind`,
    ["", "until a compaction", "after it", "revisions", "bytes of each"],
    [
      ...rows,
      ["the history of a lock, 20 runs", "", getKept("run", LOCKS), "", ""],
      ["the outcomes of a schedule, 20", "", getKept("occurrence", 1), "", ""],
    ],
  );
  printSizes((kind) => sizes.get(kind) ?? { written: Number.NaN, kept: Number.NaN, revisions: Number.NaN });
}

async function measureKind(
  cluster: BenchCluster,
  signalbox: Signalbox,
  write: WriteRecords,
  count: number,
): Promise<RecordSize> {
  await compact(cluster);
  const [before, first] = [await readBytesInUse(cluster), await readRevision(cluster)];
  const remove = await write(signalbox, count);
  const revisions = Number((await readRevision(cluster)) - first) / count;
  const written = ((await readBytesInUse(cluster)) - before) / count;
  await compact(cluster);
  const kept = ((await readBytesInUse(cluster)) - before) / count;
  await remove?.();
  return { written, kept, revisions };
}

async function readRevision({ store }: BenchCluster): Promise<bigint> {
  return (await store.readRange({ key: keys.prefix })).revision;
}

/** Removes all past states, and the free space between what is left. */
async function compact(cluster: BenchCluster): Promise<void> {
  const { etcd } = cluster;
  await etcd.runEtcdctl("compact", String(await readRevision(cluster)), "--physical").catch(() => {}); // it may be compacted already
  await etcd.runEtcdctl("defrag");
}

async function readBytesInUse({ etcd }: BenchCluster): Promise<number> {
  await pause(500); // etcd commits to its database ten times a second
  const text = await (await fetch(`${etcd.clientUrl}/metrics`)).text();
  return Number(/^etcd_mvcc_db_total_size_in_use_in_bytes (\S+)$/m.exec(text)?.[1]);
}

async function writeLocks(signalbox: Signalbox, count: number): Promise<() => Promise<void>> {
  const held: Held[] = [];
  await runInParallel(count, async (at) => {
    // A defragmentation must not end the sessions.
    held.push(await signalbox.acquire({ lock: `held-${at}`, history: false, ttl: "10m" }));
  });
  return async () => void (await Promise.all(held.map((one) => one.release())));
}

/** Locks of the measured runs: so few that their histories are full most of the time. */
const LOCKS = 5;

export async function writeRuns(signalbox: Signalbox, count: number): Promise<void> {
  const locks = Array.from({ length: LOCKS }, (_, at) => `lock-${at}`);
  const runLock = async (lock: string) => {
    for (let left = count / LOCKS; left > 0; left -= 1) await (await signalbox.acquire({ lock })).release();
  };
  await Promise.all(locks.map(runLock));
}

const NIGHTLY: NewSchedule = { cron: "15 3 * * *", type: "nightly" };

async function writeSchedules(signalbox: Signalbox, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => `nightly-${at}`);
  await signalbox.schedules.sync(Object.fromEntries(ids.map((id) => [id, NIGHTLY])), { source: "bench" });
}

/** Occurrences of one schedule in the past. */
async function writeOccurrences(signalbox: Signalbox, count: number): Promise<void> {
  const { ports } = getConnection(signalbox);
  await signalbox.schedules.add("minutely", { cron: "* * * * *", type: "report" });
  const to = Date.now() - 60_000;
  const past = { from: to - count * 60_000, to, parallel: 1 };
  const done = await countTasks(signalbox, "report", count, async () => {
    await applyMutation(ports, buildBackfillMutation("minutely", past));
  });
  if (done < count) throw new Error(`${done} of ${count} occurrences ended`);
  await signalbox.schedules.pause("minutely");
}

async function writeJobs(signalbox: Signalbox, count: number): Promise<void> {
  await countTasks(signalbox, "mail", count, () =>
    runInParallel(count, async (at) => void (await signalbox.jobs.add("mail", { to: "ops", number: at }))),
  );
}

/** Runs tasks of a type until so many have ended. */
async function countTasks(
  signalbox: Signalbox,
  type: string,
  count: number,
  start: () => Promise<void>,
): Promise<number> {
  let done = 0;
  const worker = new Worker(signalbox, { handlers: { [type]: () => {} }, concurrency: 64 });
  worker.on("ended", () => {
    done += 1;
  });
  const over = new AbortController();
  const running = worker.run(over.signal);
  await start();
  await waitUntil(`${count} tasks`, () => done >= count, { ms: 600_000, every: 100 });
  over.abort(new Error("all have ended"));
  await running;
  return done;
}

export async function writeAudit(signalbox: Signalbox, count: number): Promise<void> {
  const { ports } = getConnection(signalbox);
  const action = { action: "drain", outcome: "drained", seen: 1n, compare: [], ops: [] } as const;
  await runInParallel(count, async (at) => {
    await executeAction(ports, { ...action, target: `host web${at}.example.com`, reason: "new disks" });
  });
}

async function writeHosts(signalbox: Signalbox, count: number): Promise<void> {
  const { ports, facts } = getConnection(signalbox);
  const value = serializeHostRecord(facts, VERSION, Date.now());
  await runInParallel(count, async (at) => {
    const put = { op: "put", key: keys.host(`web${at}.example.com`), value } as const;
    await ports.store.commitTxn({ compare: [], success: [put], failure: [] });
  });
}

/** Does something so often, in order, a limited number at the same time. */
async function runInParallel(count: number, act: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let at = next++; at < count; at = next++) await act(at);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/** Prints how large the database of a site is: what stays, and what is written between two compactions. */
function printSizes(getSize: (kind: Kind) => RecordSize): void {
  const kept = (kind: Kind, count: number) => count * getSize(kind).kept;
  const grown = (kind: Kind, perSecond: number, seconds: number) =>
    getSize(kind).written * perSecond * seconds;
  const sites: [string, number][] = [
    ["1,000 locks that are held", kept("lock", 1_000)],
    ["10,000 schedules that have not run", kept("schedule", 10_000)],
    ["10,000 audit records", kept("audit", 10_000)],
    ["1,000 hosts", kept("host", 1_000)],
    ["10,000 runs a day, compacted each hour", grown("run", 10_000 / DAY, 2 * HOUR)],
    ["10,000 runs a day, not compacted for 30 days", grown("run", 10_000 / DAY, 30 * DAY)],
    ["10,000 occurrences a day, compacted each hour", grown("occurrence", 10_000 / DAY, 2 * HOUR)],
    ["200 jobs a second, compacted each hour", grown("job", 200, 2 * HOUR)],
    ["200 jobs a second, compacted every 5 minutes", grown("job", 200, HOUR / 6)],
  ];
  printTable(
    "Sizes of sites; twice what is written between two compactions",
    ["", "MiB"],
    sites.map(([name, bytes]) => [name, formatNumber(bytes / 1024 ** 2)]),
  );
  printNote(
    `200 jobs a second, not compacted: 2 GiB are full after ${formatNumber((2 * 1024 ** 3) / grown("job", 200, HOUR))} hours`,
  );
}

const formatBytes = (bytes: number) => formatNumber(bytes, 0);
