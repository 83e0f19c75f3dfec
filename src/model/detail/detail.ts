import { formatInstant } from "../../base/duration.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import type { PastRun } from "../../protocol/history.ts";

/** Everything about one thing, for people: what it is, facts, and tables below. Texts are not cleaned. */
export interface Detail {
  heading: string;
  facts: readonly (readonly [label: string, value: string])[];
  tables: readonly DetailTable[];
}

export interface DetailTable {
  title: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Rows of a table that are shown; of more, only how many they are. */
const MANY = 10;

/** A table, if it has rows; the title says how many are not shown. */
export function someOf(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): DetailTable[] {
  if (rows.length === 0) return [];
  const more = rows.length > MANY ? ` (the first ${MANY} of ${rows.length})` : "";
  return [{ title: `${title}${more}`, head, rows: rows.slice(0, MANY) }];
}

/** Facts without those of which nothing is known. */
export function known(
  facts: readonly (readonly [label: string, value: string | undefined])[],
): Detail["facts"] {
  return facts.flatMap(([label, value]) =>
    value === undefined || value === "" ? [] : [[label, value] as const],
  );
}

/** What operators did to a thing, newest first. */
export function auditTable(
  audit: ReadonlyMap<string, AuditRecord>,
  isAbout: (target: string) => boolean,
): DetailTable[] {
  const records = [...audit.values()]
    .filter(({ target }) => isAbout(target))
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  return someOf(
    "operators",
    ["WHEN", "WHO", "ACTION", "OUTCOME", "REASON"],
    records.map(({ at, user, sudoUser, host, action, outcome, reason }) => [
      ...[formatInstant(at), `${sudoUser ?? user}@${host}`, action, outcome, reason ?? ""],
    ]),
  );
}

export function pastTable(runs: readonly PastRun[], duration: (ms: number) => string): DetailTable[] {
  return someOf(
    "history",
    ["ENDED", "HOST", "WAITED", "HELD", "EXIT", "REASON"],
    runs.map(({ endedAt, host, pid, waited, held, exit, reason }) => [
      ...[
        formatInstant(endedAt),
        `${host}:${pid}`,
        duration(waited),
        duration(held),
        String(exit),
        reason ?? "",
      ],
    ]),
  );
}
