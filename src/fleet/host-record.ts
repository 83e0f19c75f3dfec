import type { HostFacts } from "./host.ts";

/** What a host last said of itself, under `hosts/<fqdn>`. */
export interface HostRecord {
  fqdn: string;
  cpu: number | undefined;
  memMb: number | undefined;
  macros: Readonly<Record<string, number | string>>;
  /** Of signalbox there. */
  version: string | undefined;
  /** Wall clock of that host, ms since the epoch, rounded down to `SEEN_EVERY`. */
  seenAt: number;
}

/** A host says again that it is there after this time, ms: seldom, for each time is one change more in etcd. */
export const SEEN_EVERY = 300_000;

/** @param wall  wall clock, ms since the epoch. The same text until it is time to say it again, or a fact changed. */
export function hostText(facts: HostFacts, version: string, wall: number): string {
  const { cpu, memMb, macros } = facts;
  return JSON.stringify({ v: 1, cpu, memMb, macros, version, seenAt: wall - (wall % SEEN_EVERY) });
}

/** A record; what cannot be read of it is left out. A host without a readable time was seen at 0. */
export function parseHost(fqdn: string, text: string): HostRecord {
  const { cpu, memMb, macros, version, seenAt } = record(text);
  return {
    fqdn,
    cpu: finite(cpu),
    memMb: finite(memMb),
    macros: Object.fromEntries(
      Object.entries(Object(macros)).filter(([, value]) => ["number", "string"].includes(typeof value)),
    ) as HostRecord["macros"],
    version: typeof version === "string" ? version : undefined,
    seenAt: finite(seenAt) ?? 0,
  };
}

function finite(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) : undefined;
}

function record(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
