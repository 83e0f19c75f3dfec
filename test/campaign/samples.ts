/** Sample facts of a campaign, with simple times in ms. */
import type {
  CampaignJob,
  Claim,
  Ending,
  Facts,
  KeyChange,
  ProcessRecord,
} from "../../fixtures/campaign/facts.ts";

export function makeOrder(name: string, more: Partial<CampaignJob> = {}): CampaignJob {
  return { name, host: "h1", tool: "run", units: {}, ttl: 3_000, code: 0, ...more };
}

export function makeLife(birth: number, last: number, more: Partial<ProcessRecord> = {}): ProcessRecord {
  return { role: "main", pid: 1, birth, last, hasEnded: true, ...more };
}

/** Parses jobs with the lock `a`, such as `x from 0 to 10 token 1, y from 5 to 20 token 2 shared`: each with one process. */
export const parseClaims = (text: string, more: Partial<CampaignJob> = {}): Claim[] =>
  text.split(", ").map((part) => {
    if (!/^\w+ from \d+ to \d+( token \d+( shared)?)?$/.test(part)) throw new Error(`no claim: ${part}`);
    const [name = "", , birth, , last, , token = "1", isShared] = part.split(" ");
    return {
      order: makeOrder(name, { locks: ["a"], ...(isShared && { isShared: true }), ...more }),
      run: `run${name}`,
      token: BigInt(token),
      key: toKey(name),
      lives: [makeLife(Number(birth), Number(last))],
    };
  });

/** The key of its ticket. */
export function toKey(name: string, queue = "locks/a"): string {
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
    key: toKey(name),
    createRevision: BigInt(at),
    session: 7n,
    value: isDeletion ? "" : JSON.stringify({ state, count, shared }),
    ...rest,
  };
}

/** Parses changes of tickets, such as `x waiting 1, x held 3 since 1`: the revision, and that of the ticket's creation. */
export const parseChanges = (text: string, more: Parameters<typeof makeChange>[3] = {}): KeyChange[] =>
  text.split(", ").map((part) => {
    if (!/^\w+ (held|waiting|gone) \d+( since \d+)?$/.test(part)) throw new Error(`no change: ${part}`);
    const [name = "", state = "", at = "", , created = at] = part.split(" ");
    return makeChange(name, Number(at), state, { createRevision: BigInt(created), ...more });
  });

/** The end of a run, after a second. */
export const makeEnding = (code: number, more: Partial<Ending> = {}): Ending => ({
  order: makeOrder("x"),
  pid: 5,
  started: 0,
  ended: 1_000,
  code,
  signals: [],
  stderr: "",
  ...more,
});

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
