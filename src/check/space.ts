import type { Finding } from "../base/finding.ts";
import type { AnsweringMember } from "./members.ts";

/** Default quota of etcd's database, in bytes. */
export const DEFAULT_QUOTA = 2 * 1024 ** 3;
const WARNING = 0.7;
const CRITICAL = 0.9;

/** The quota of a database and its source. */
export interface Quota {
  bytes: number;
  /** `assumed`: not known, so etcd's default is used. */
  source: "flag" | "metrics" | "assumed";
}

/** Checks how full the databases are. @param getQuota  returns the quota of the member at an endpoint */
export function judgeSpace(
  answers: readonly AnsweringMember[],
  getQuota: (endpoint: string) => Quota,
): Finding[] {
  return answers.map((answer) => judgeDatabase(answer, getQuota(answer.endpoint)));
}

function judgeDatabase({ endpoint, dbSize, dbInUse }: AnsweringMember, quota: Quota): Finding {
  const share = dbSize / quota.bytes;
  const assumed = quota.source === "assumed" ? " (etcd's default; set another with --quota)" : "";
  const used = dbInUse === undefined ? "" : `, ${formatBytes(dbInUse)} of it in use`;
  const detail = `${formatBytes(dbSize)} of ${formatBytes(quota.bytes)}${assumed}${used}`;
  const about = { kind: "space", check: `database ${endpoint}`, detail };
  if (share < WARNING) return { ...about, level: "ok" };
  const isLoose = dbInUse !== undefined && dbInUse < dbSize / 2;
  const remedy = isLoose
    ? "most of it is free: etcdctl defrag, on one member after the other"
    : "compact (--auto-compaction-retention), defragment, or raise --quota-backend-bytes: when it is full, nothing new starts";
  return { ...about, level: share < CRITICAL ? "warning" : "failure", remedy };
}

/** Formats a size, for example `28 KiB` or `1.4 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
