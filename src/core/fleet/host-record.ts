import type { WallTime } from "../base/clock.ts";
import { parseObject } from "../base/parse-json.ts";
import { LONGEST_VALUE } from "../base/size.ts";
import type { HostFacts } from "./host.ts";

/** The last record that a host wrote, stored under `hosts/<fqdn>`. */
export interface HostRecord {
  fqdn: string;
  cpu: number | undefined;
  memMb: number | undefined;
  macros: Readonly<Record<string, number | string>>;
  /** Version of signalbox on that host. */
  version: string | undefined;
  /** Wall clock of that host, ms since the epoch, rounded down to `HOST_RECORD_INTERVAL`. */
  seenAt: WallTime;
}

/** Interval at which a host renews its record, ms. It is long, because each renewal is a write to etcd. */
export const HOST_RECORD_INTERVAL = 300_000;

/** Serializes the record of a host. The text stays the same within one interval, unless a fact changes. */
export function serializeHostRecord(facts: HostFacts, version: string, wall: WallTime): string {
  const { cpu, memMb, macros } = facts;
  return JSON.stringify({ v: 1, cpu, memMb, macros, version, seenAt: wall - (wall % HOST_RECORD_INTERVAL) });
}

/** Parses the record of a host. Omits unreadable fields. If the time is unreadable, `seenAt` is 0. */
export function parseHostRecord(fqdn: string, text: string): HostRecord {
  const { cpu, memMb, macros, version, seenAt } = parseObject(text.length > LONGEST_VALUE ? "" : text);
  return {
    fqdn,
    cpu: toFiniteNumber(cpu),
    memMb: toFiniteNumber(memMb),
    macros: Object.fromEntries(
      Object.entries(Object(macros)).filter(([, value]) => ["number", "string"].includes(typeof value)),
    ) as HostRecord["macros"],
    version: typeof version === "string" ? version : undefined,
    seenAt: toFiniteNumber(seenAt) ?? 0,
  };
}

function toFiniteNumber(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) : undefined;
}
