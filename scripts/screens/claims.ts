/** The claims of the scene. They are fixed, so that the screens are reproducible. */
export interface SceneClaim {
  lock?: string;
  host: string;
  pid: number;
  /** Seconds since the claim, and since the grant; a waiting claim has no grant. */
  queued: number;
  granted?: number;
  /** Units by resource. */
  leases?: Readonly<Record<string, number>>;
  /** The resource that a waiter waits for; undefined: it waits for the lock. */
  lacks?: string;
  label?: string;
}

export const buildCpuLease = (host: string, units = 1, mib = 0) => ({
  [`${host}.example.com_cpu`]: units,
  ...(mib > 0 && { [`${host}.example.com_mem`]: mib }),
});

const createHeld = (lock: string, host: string, pid: number, since: number, leases = {}): SceneClaim => ({
  lock,
  host,
  pid,
  queued: since + 1,
  granted: since,
  leases: { ...buildCpuLease(host), ...leases },
});

const createWaiting = (lock: string, host: string, pid: number, since: number): SceneClaim => ({
  lock,
  host,
  pid,
  queued: since,
});

/** The claims in queue order. */
export const CLAIMS: readonly SceneClaim[] = [
  {
    lock: "legacy-sync",
    host: "batch2",
    pid: 4711,
    queued: 93_605,
    granted: 93_601,
    label: "frozen since yesterday",
  },
  createHeld("backup-db", "db1", 3121, 724, { "s3-upload": 4, "db1.example.com_mem": 4096 }),
  createHeld("cache-warm", "web1", 20_417, 41),
  createHeld("export-dwh", "db2", 911, 312, { db: 3, "db2.example.com_mem": 8192 }),
  createHeld("image-resize", "web2", 7718, 18, { "web2.example.com_mem": 2048 }),
  createHeld("invoices", "batch1", 16_204, 95, { db: 1 }),
  createHeld("ledger-close", "batch1", 15_980, 260, { db: 2, "batch1.example.com_mem": 1024 }),
  createHeld("log-ship", "web3", 5150, 7),
  createHeld("mail-customers", "mail1", 2290, 133, { smtp: 3 }),
  createHeld("newsletter", "mail1", 2303, 64, { smtp: 2, "mail1.example.com_mem": 512 }),
  createHeld("payroll", "batch2", 30_012, 151, { db: 2, "batch2.example.com_mem": 2048 }),
  createHeld("recommendations", "batch2", 30_077, 88, { ...buildCpuLease("batch2", 2, 8192) }),
  createHeld("report-sales", "batch1", 16_377, 33, { db: 2 }),
  createHeld("search-index", "web1", 20_390, 27, { "web1.example.com_mem": 2048 }),
  createHeld("thumbnails", "batch1", 16_410, 9, { "batch1.example.com_mem": 512 }),
  createHeld("video-transcode", "batch2", 29_655, 1_520, { gpu: 1, ...buildCpuLease("batch2", 4) }),
  { host: "batch1", pid: 16_399, queued: 47, granted: 47, leases: { "cad-licence": 1 } },
  { host: "batch2", pid: 30_101, queued: 45, granted: 45, leases: { "cad-licence": 1 } },
  createWaiting("video-transcode", "batch1", 16_180, 1_190),
  createWaiting("backup-db", "db2", 925, 181),
  {
    lock: "report-stock",
    host: "batch1",
    pid: 16_391,
    queued: 122,
    leases: { db: 2, ...buildCpuLease("batch1") },
    lacks: "db",
  },
  createWaiting("newsletter", "mail1", 2311, 60),
  createWaiting("backup-db", "db1", 3160, 58),
  createWaiting("invoices", "batch2", 30_114, 51),
  { host: "web3", pid: 5161, queued: 40, leases: { "cad-licence": 1 }, lacks: "cad-licence" },
  createWaiting("search-index", "web2", 7741, 24),
  {
    lock: "report-taxes",
    host: "batch2",
    pid: 30_125,
    queued: 21,
    leases: { db: 2, ...buildCpuLease("batch2") },
    lacks: "db",
  },
  createWaiting("search-index", "web3", 5172, 12),
  createWaiting("thumbnails", "batch2", 30_130, 6),
];

/** Total units by resource; with macros for resources of every host. */
export const TOTALS: Readonly<
  Record<string, readonly [total: number | string, note?: string, order?: number]>
> = {
  db: [10, "connections to the primary", 1],
  smtp: [6, "the provider allows six", 2],
  gpu: [1, "in batch2's cellar", 3],
  "s3-upload": [8, "streams, or the line is full"],
  "cad-licence": [2, "renewed each March"],
  FQDN_cpu: ["CORES", "processors"],
  FQDN_mem: ["RAM", "MiB"],
};

/** Processors and memory (MiB) of each host, and how many minutes ago it was seen. */
export const HOSTS: Readonly<Record<string, readonly [cores: number, ram: number, seen: number]>> = {
  batch1: [8, 31_904, 1],
  batch2: [8, 31_904, 2],
  db1: [16, 64_312, 3],
  db2: [16, 64_312, 1],
  mail1: [2, 3_936, 4],
  web1: [4, 7_976, 2],
  web2: [4, 7_976, 2],
  web3: [4, 7_976, 0],
};

export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  batch: ["batch1.example.com", "batch2.example.com"],
  databases: ["db1.example.com", "db2.example.com"],
  mail: ["mail1.example.com"],
  servers: ["databases", "web"],
  web: ["web1.example.com", "web2.example.com", "web3.example.com", "web4.example.com"],
};
