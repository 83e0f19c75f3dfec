/** Sample facts of a campaign, with simple times in ms. */
import type { CampaignJob, Claim, Facts, KeyChange, ProcessRecord } from "../../fixtures/campaign/facts.ts";

export function makeOrder(name: string, more: Partial<CampaignJob> = {}): CampaignJob {
  return { name, host: "h1", tool: "run", units: {}, ttl: 3_000, code: 0, ...more };
}

export function makeLife(birth: number, last: number, more: Partial<ProcessRecord> = {}): ProcessRecord {
  return { role: "main", pid: 1, birth, last, hasEnded: true, ...more };
}

/** Creates a job with the lock `a` and one process that ran from `birth` to `last`. */
export function makeClaim(
  name: string,
  birth: number,
  last: number,
  token: number,
  more: Partial<Claim> = {},
): Claim {
  return {
    order: makeOrder(name, { locks: ["a"] }),
    run: `run${name}`,
    token: BigInt(token),
    key: keyOf(name),
    lives: [makeLife(birth, last)],
    ...more,
  };
}

/** The key of its ticket. */
export function keyOf(name: string, queue = "locks/a"): string {
  return `/campaign/${queue}/run${name}`;
}

/** A change of a run's ticket. @param at  both the revision and the instant */
export function makeChange(
  name: string,
  at: number,
  state: string,
  more: Partial<KeyChange> & { count?: number; shared?: boolean } = {},
): KeyChange {
  const { count = 1, shared, ...rest } = more;
  const isDeletion = state === "gone";
  return {
    revision: BigInt(at),
    at,
    kind: isDeletion ? "delete" : "put",
    key: keyOf(name),
    createRevision: BigInt(at),
    session: 7n,
    value: isDeletion ? "" : JSON.stringify({ state, count, shared }),
    ...rest,
  };
}

export function makeFacts(more: Partial<Facts>): Facts {
  return {
    claims: [],
    changes: [],
    elections: [],
    endings: [],
    forced: [],
    faults: [],
    totals: {},
    complaints: [],
    longestStall: 0,
    ...more,
  };
}
