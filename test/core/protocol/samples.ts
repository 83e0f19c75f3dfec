import fc from "fast-check";
import { findNameFault } from "../../../src/core/base/text.ts";
import type { ReadBasis } from "../../../src/core/protocol/guards.ts";
import type { PastRun } from "../../../src/core/protocol/history.ts";
import { createKeys, DRAIN_SCOPES, type ParsedKey } from "../../../src/core/protocol/keys.ts";
import { type QueueEntry, TICKET_STATES, type Ticket } from "../../../src/core/protocol/ticket.ts";

export const keys = createKeys("/signalbox/");

/** Basis of a decision made without a read. */
export const EMPTY_BASIS: ReadBasis = { revision: 0n, groupsMatter: false, config: [] };

/** Creates a ticket as a run writes it, with the given fields. */
export function ticketWith(change: Partial<Ticket> = {}): Ticket {
  return {
    run: "0123456789abcdef",
    host: "web1.example.com",
    pid: 4711,
    user: "op",
    count: 1,
    total: 1,
    state: "waiting",
    command: "invoices.sh",
    enqueuedAt: 1_700_000_000_000,
    ...change,
  };
}

/** Creates a run of the history, with the given fields. */
export const past = (run: string, more: Partial<PastRun> = {}): PastRun => ({
  run,
  host: "web1.example.com",
  pid: 4711,
  command: "invoices.sh",
  token: "12",
  enqueuedAt: 1_000,
  grantedAt: 2_000,
  endedAt: 5_000,
  waited: 1_000,
  held: 3_000,
  exit: 0,
  ...more,
});

/** A place in a queue; `ticket` undefined for a malformed one. */
export function placeWith(run: string, at: number, ticket: Partial<Ticket> | undefined): QueueEntry {
  return {
    key: keys.resource("db", run),
    run,
    createRevision: BigInt(at),
    modRevision: BigInt(at),
    session: 1n,
    ticket: ticket === undefined ? undefined : ticketWith({ run, ...ticket }),
  };
}

/** Pieces of names that could be taken for something else in a key, and names that begin alike. */
const awkward = [
  "a",
  "b",
  "/",
  ".",
  "..",
  "%",
  "%2F",
  "%2f",
  "%00",
  "A",
  "0",
  "é",
  "日",
  "👍",
  " ",
  ":",
  "-",
  "+",
];

const codePoint = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + 0x800));

/** Any characters. Not fast-check's own `unit: "binary"`: it takes seconds to make ready. */
export function anyText(size: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.oneof(codePoint, fc.constantFrom(..."aZ%/-=\0\n\x1b\x9bé日👍\u202e")),
    ...size,
  });
}

/** Every kind of name that `nameFault` lets pass. */
export const usableName = fc
  .oneof(
    fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join("")),
    anyText({ minLength: 1, maxLength: 8 }),
  )
  .filter((name) => findNameFault(name) === undefined);

export const runId = fc.string({
  unit: fc.constantFrom(..."0123456789abcdefghjkmnpqrstvwxyz"),
  minLength: 16,
  maxLength: 16,
});

/** Any text of bytes: what keys in etcd can be. */
export const bytes = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
});

/** Kinds of keys that have a name only. */
const NAMED = [
  "resourceConfig",
  "group",
  "host",
  "history",
  "audit",
  "schema",
  "calendar",
  "outputChunk",
] as const;

/** What a key of ours can stand for. */
export const meaning: fc.Arbitrary<Exclude<ParsedKey, { kind: "unknown" }>> = fc.oneof(
  fc.record({ kind: fc.constantFrom("lock" as const, "resource" as const), name: usableName, run: runId }),
  fc.record({ kind: fc.constantFrom(...NAMED), name: usableName }),
  fc.record({
    kind: fc.constant("drain" as const),
    scope: fc.constantFrom(...DRAIN_SCOPES),
    name: usableName,
  }),
  fc.record({ kind: fc.constantFrom(...NAMED), name: usableName }),
  fc.record({
    kind: fc.constant("agentSession" as const),
    name: usableName,
    session: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map((id) => id.toString(16)),
  }),
  fc.record({ kind: fc.constant("agentReport" as const), name: usableName, agent: runId }),
  fc.record({ kind: fc.constant("outputRequest" as const), name: usableName, run: runId, viewer: runId }),
  fc.record(
    {
      kind: fc.constant("checkpoint" as const),
      name: usableName,
      host: usableName,
      scheduled: fc.integer({ min: 0, max: 1e14 }),
    },
    { requiredKeys: ["kind", "name", "scheduled"] },
  ),
);

/** The key of a meaning. */
export function keyOf(what: Exclude<ParsedKey, { kind: "unknown" }>): string {
  switch (what.kind) {
    case "lock":
    case "resource":
      return keys[what.kind](what.name, what.run);
    case "drain":
      return keys.drain(what.scope, what.name);
    case "agentSession":
      return keys.agentSession(what.name, BigInt(`0x${what.session}`));
    case "agentReport":
      return keys.agentReport(what.name, what.agent);
    case "outputRequest":
      return keys.outputRequest(what.name, what.run, what.viewer);
    case "checkpoint":
      return keys.checkpoint(what.name, what.host, what.scheduled);
    default:
      return keys[what.kind](what.name);
  }
}

const instant = fc.integer({ min: -8.64e15, max: 8.64e15 });
const units = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

/** Every ticket there can be. */
export const anyTicket: fc.Arbitrary<Ticket> = fc.record(
  {
    run: runId,
    host: fc.string(),
    pid: fc.nat(),
    user: fc.string(),
    count: units,
    total: units,
    state: fc.constantFrom(...TICKET_STATES),
    command: anyText(),
    enqueuedAt: instant,
    args: fc.array(fc.string()),
    label: fc.string(),
    group: fc.string(),
    isStated: fc.constant(true as const),
    grantedAt: instant,
    until: instant,
    reset: fc.record({ by: fc.string(), at: instant, why: fc.string() }, { requiredKeys: ["by", "at"] }),
  },
  { requiredKeys: ["run", "host", "pid", "user", "count", "total", "state", "command", "enqueuedAt"] },
);
