import type { Finding } from "../../base/finding.ts";
import type { Answer } from "./members.ts";

/** What etcd allows its database where nobody says otherwise, in bytes. */
export const USUAL_QUOTA = 2 * 1024 ** 3;
const WARNING = 0.7;
const CRITICAL = 0.9;

/** Where a database's quota is known from. */
export interface Quota {
  bytes: number;
  /** `assumed`: nobody said, so it is taken for etcd's own default. */
  source: "flag" | "metrics" | "assumed";
}

/**
 * How full the databases are.
 * @param quotaOf  of the member at an endpoint
 */
export function judgeSpace(answers: readonly Answer[], quotaOf: (endpoint: string) => Quota): Finding[] {
  return answers.map((answer) => judgeOne(answer, quotaOf(answer.endpoint)));
}

function judgeOne({ endpoint, dbSize, dbInUse }: Answer, quota: Quota): Finding {
  const share = dbSize / quota.bytes;
  const assumed = quota.source === "assumed" ? " (etcd's default; say another with --quota)" : "";
  const used = dbInUse === undefined ? "" : `, ${bytesText(dbInUse)} of it in use`;
  const detail = `${bytesText(dbSize)} of ${bytesText(quota.bytes)}${assumed}${used}`;
  const about = { kind: "space", check: `database ${endpoint}`, detail };
  if (share < WARNING) return { ...about, level: "ok" };
  const isLoose = dbInUse !== undefined && dbInUse < dbSize / 2;
  const remedy = isLoose
    ? "most of it is free: etcdctl defrag, on one member after the other"
    : "compact (--auto-compaction-retention), defragment, or raise --quota-backend-bytes: when it is full, nothing new starts";
  return { ...about, level: share < CRITICAL ? "warning" : "failure", remedy };
}

/** `28 KiB`, `1.4 GiB`. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
