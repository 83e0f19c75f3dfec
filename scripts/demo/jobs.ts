type Seconds = readonly [least: number, most: number];

/** A line of a crontab, as it stands on one or more hosts. */
export interface Job {
  /** Of the lock, and of the script that is run. */
  name: string;
  /** Takes leases only. */
  isLockless?: true;
  /** Where the line stands: kinds of hosts, or `any`. */
  hosts: string;
  /** How many compete for the lock at the same time. */
  rivals: number;
  /** They queue for it. */
  isPatient: boolean;
  leases: readonly string[];
  lasts: Seconds;
  /** Between two runs of one competitor. */
  rests: Seconds;
  /** Share of runs that fail. */
  failing: number;
  flags: readonly string[];
}

type More = Partial<Omit<Job, "name" | "hosts">>;

function job(hosts: string, name: string, more: More = {}): Job {
  return {
    ...{ name, hosts, rivals: 1, isPatient: (more.rivals ?? 1) > 1, leases: ["FQDN_cpu=1"] },
    ...{ lasts: [20, 55], rests: [6, 25], failing: 0.06, flags: [] },
    ...more,
  };
}

const names = (hosts: string, list: string, more: More = {}) =>
  list.split(" ").map((name) => job(hosts, name, more));

const memory = (mib: number) => ["FQDN_cpu=1", `FQDN_mem=${mib}`];
const heavy: More = { leases: ["FQDN_cpu=2", "FQDN_mem=8192"], lasts: [35, 60] };
const report: More = { leases: ["db=2", ...memory(1024)], lasts: [15, 40], rests: [2, 6] };

/** What the site does all day. */
export const JOBS: readonly Job[] = [
  ...names("web", "cache-warm cdn-purge cert-renew geoip-update log-rotate session-gc sitemap static-build"),
  job("web", "search-index", { rivals: 4, leases: memory(2048), lasts: [15, 35], rests: [2, 8] }),
  job("web+batch", "image-resize", { rivals: 2, leases: memory(1024) }),
  ...names("db", "partition-rotate replica-check slow-queries vacuum wal-archive", { leases: memory(2048) }),
  job("db", "backup-db", { rivals: 4, leases: [...memory(4096), "s3-upload=4"], lasts: [30, 60] }),
  job("db+batch", "export-dwh", { leases: ["db=3", "FQDN_cpu=2"], rivals: 2 }),
  job("batch", "invoices", { rivals: 3, leases: ["db=1"], lasts: [25, 45] }),
  ...names("batch", "bank-statements currency-rates dunning ledger-close payroll", { leases: memory(1024) }),
  ...names("batch", "order-export price-import stock-sync", { leases: ["partner-api=1"], isPatient: true }),
  ...names("batch", "report-leads report-sales report-stock report-taxes", { ...report, isPatient: true }),
  ...names("batch", "churn-model fraud-score recommendations", { ...heavy, isPatient: true }),
  job("batch", "thumbnails", { rivals: 3, leases: memory(512), lasts: [10, 25], rests: [1, 4] }),
  job("batch", "video-transcode", { leases: ["gpu=1", "FQDN_cpu=4"], rivals: 3, lasts: [30, 60] }),
  ...names("mail", "bounce-parse dkim-rotate mailbox-sweep", { leases: memory(256), isPatient: true }),
  job("mail", "mail-customers", { rivals: 2, leases: ["smtp=3"], lasts: [25, 50] }),
  job("mail", "newsletter", { rivals: 3, leases: ["smtp=2"], lasts: [25, 50] }),
  ...names("cache", "cache-flush cache-snapshot", { leases: memory(1024) }),
  ...names("any", "config-audit dns-sync inventory ldap-sync log-ship metrics-rollup"),
  job("any", "security-scan", { flags: ["--timeout", "20s"], lasts: [8, 23] }),
  job("any", "package-mirror", { leases: ["s3-upload=1"], lasts: [10, 30] }),
  job("batch", "cad-render", { isLockless: true, rivals: 3, leases: ["cad-licence=1"], lasts: [20, 40] }),
  job("web", "ad-hoc-query", { isLockless: true, rivals: 2, leases: ["db=1"], lasts: [10, 30] }),
];

/** Of one competitor; the first of a job has no number, for it is often the only one. */
export function seatName({ name }: Job, seat: number): string {
  return seat === 0 ? name : `${name}/${seat}`;
}
