import { briefDuration } from "../../base/duration.ts";
import type { Finding } from "../../base/finding.ts";

/** A member's wall clock less this host's: somewhere between these, ms. */
export interface Offset {
  endpoint: string;
  least: number;
  most: number;
}

/** ms */
const APART = 5_000;

/**
 * This host's wall clock against those of etcd's members, as far as they tell the time at all (over plain HTTP, to the
 * second). Where most of them agree that it is this host's that is off, that is said.
 */
export function judgeOwnClock(offsets: readonly Offset[]): Finding[] {
  const about = { kind: "clock", check: "clock of this host" };
  if (offsets.length === 0)
    return [{ ...about, level: "ok", detail: "not compared: no member says what time it is" }];
  const apart = offsets.filter((offset) => distance(offset) > APART);
  const [first] = apart;
  if (first === undefined) {
    const detail = `within ${briefDuration(APART)} of ${offsets.length === 1 ? "the member's" : `those of ${offsets.length} members`}`;
    return [{ ...about, level: "ok", detail }];
  }
  const remedy =
    "compare the clocks (ntp, chrony): drains and grace end by them, locks do not depend on them";
  const isMost = apart.length * 2 > offsets.length;
  if (isMost) return [{ ...about, level: "warning", detail: `${told(first)} (${first.endpoint})`, remedy }];
  return apart.map((offset) => ({
    ...{ kind: "clock", check: `clock of ${offset.endpoint}`, level: "warning" },
    ...{ detail: `this host's is ${told(offset)}`, remedy },
  }));
}

/** How far apart the clocks are at least, ms. */
function distance({ least, most }: Offset): number {
  if (least > 0) return least;
  return most < 0 ? -most : 0;
}

function told(offset: Offset): string {
  const way = offset.least > 0 ? "behind" : "ahead of";
  return `${briefDuration(distance(offset))} or more ${way} that of etcd's member`;
}
