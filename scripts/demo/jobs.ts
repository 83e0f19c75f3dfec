type Seconds = readonly [least: number, most: number];

/** A crontab line on one or more hosts. */
export interface DemoJob {
  /** Name of the lock, and of the script. */
  name: string;
  /** Whether the job takes only leases. */
  isLockless?: true;
  /** Hosts with this line: kinds of hosts, or `any`. */
  hosts: string;
  /** Number of competitors for the lock. */
  rivals: number;
  /** Whether they wait for the lock. */
  isPatient: boolean;
  leases: readonly string[];
  lasts: Seconds;
  /** Time between two runs of one competitor. */
  rests: Seconds;
  /** Share of runs that fail. */
  failing: number;
  flags: readonly string[];
}

type More = Partial<Omit<DemoJob, "name" | "hosts">>;

function createJob(hosts: string, name: string, more: More = {}): DemoJob {
  return {
    name,
    hosts,
    rivals: 1,
    isPatient: (more.rivals ?? 1) > 1,
    leases: ["FQDN_cpu=1"],
    lasts: [20, 55],
    rests: [6, 25],
    failing: 0.06,
    flags: [],
    ...more,
  };
}

const createJobs = (hosts: string, list: string, more: More = {}) =>
  list.split(" ").map((name) => createJob(hosts, name, more));

const buildMemoryLeases = (mib: number) => ["FQDN_cpu=1", `FQDN_mem=${mib}`];
const heavy: More = { leases: ["FQDN_cpu=2", "FQDN_mem=8192"], lasts: [35, 60] };
const report: More = { leases: ["db=2", ...buildMemoryLeases(1024)], lasts: [15, 40], rests: [2, 6] };

/** The jobs of the site. */
export const JOBS: readonly DemoJob[] = [
  ...createJobs(
    "web",
    "cache-warm cdn-purge cert-renew geoip-update log-rotate session-gc sitemap static-build",
  ),
  createJob("web", "search-index", {
    rivals: 4,
    leases: buildMemoryLeases(2048),
    lasts: [15, 35],
    rests: [2, 8],
  }),
  createJob("web+batch", "image-resize", { rivals: 2, leases: buildMemoryLeases(1024) }),
  ...createJobs("db", "partition-rotate replica-check slow-queries vacuum wal-archive", {
    leases: buildMemoryLeases(2048),
  }),
  createJob("db", "backup-db", {
    rivals: 4,
    leases: [...buildMemoryLeases(4096), "s3-upload=4"],
    lasts: [30, 60],
  }),
  createJob("db+batch", "export-dwh", { leases: ["db=3", "FQDN_cpu=2"], rivals: 2 }),
  createJob("batch", "invoices", { rivals: 3, leases: ["db=1"], lasts: [25, 45] }),
  ...createJobs("batch", "bank-statements currency-rates dunning ledger-close payroll", {
    leases: buildMemoryLeases(1024),
  }),
  ...createJobs("batch", "order-export price-import stock-sync", {
    leases: ["partner-api=1"],
    isPatient: true,
  }),
  ...createJobs("batch", "report-leads report-sales report-stock report-taxes", {
    ...report,
    isPatient: true,
  }),
  ...createJobs("batch", "churn-model fraud-score recommendations", { ...heavy, isPatient: true }),
  createJob("batch", "thumbnails", {
    rivals: 3,
    leases: buildMemoryLeases(512),
    lasts: [10, 25],
    rests: [1, 4],
  }),
  createJob("batch", "video-transcode", { leases: ["gpu=1", "FQDN_cpu=4"], rivals: 3, lasts: [30, 60] }),
  ...createJobs("mail", "bounce-parse dkim-rotate mailbox-sweep", {
    leases: buildMemoryLeases(256),
    isPatient: true,
  }),
  createJob("mail", "mail-customers", { rivals: 2, leases: ["smtp=3"], lasts: [25, 50] }),
  createJob("mail", "newsletter", { rivals: 3, leases: ["smtp=2"], lasts: [25, 50] }),
  ...createJobs("cache", "cache-flush cache-snapshot", { leases: buildMemoryLeases(1024) }),
  ...createJobs("any", "config-audit dns-sync inventory ldap-sync log-ship metrics-rollup"),
  createJob("any", "security-scan", { flags: ["--timeout", "20s"], lasts: [8, 23] }),
  createJob("any", "package-mirror", { leases: ["s3-upload=1"], lasts: [10, 30] }),
  createJob("batch", "cad-render", {
    isLockless: true,
    rivals: 3,
    leases: ["cad-licence=1"],
    lasts: [20, 40],
  }),
  createJob("web", "ad-hoc-query", { isLockless: true, rivals: 2, leases: ["db=1"], lasts: [10, 30] }),
];

/** Formats the name of a competitor. The first one of a job has no number, because it is often the only one. */
export function formatCompetitorName({ name }: DemoJob, competitor: number): string {
  return competitor === 0 ? name : `${name}/${competitor}`;
}
