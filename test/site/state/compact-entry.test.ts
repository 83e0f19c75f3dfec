import {
  type Arbitrary,
  array,
  assert,
  constant,
  constantFrom,
  double,
  integer,
  oneof,
  option,
  property,
  record,
  string,
} from "fast-check";
import { describe, expect, test } from "vitest";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { createKeyValue } from "../../../fixtures/state/sample-snapshots.ts";
import {
  type QueueEntry,
  serializeTicket,
  type Ticket,
  toQueueEntry,
} from "../../../src/core/protocol/ticket.ts";
import { EntryCompactor, EntryRevisions } from "../../../src/site/state/compact-entry.ts";

const RUN_ID = "aaaaaaaaaaaa";

const buildEntry = (change: Partial<Ticket> = {}, inKey = RUN_ID) =>
  toQueueEntry(
    createKeyValue(keys.lock("a", inKey), serializeTicket(createTicket({ run: RUN_ID, ...change }))),
  );

/** Returns what can be seen of an entry. */
function toPlain({ key, run, ticket, createRevision, modRevision, session, vanished }: QueueEntry) {
  return { key, run, ticket, createRevision, modRevision, session, vanished };
}

const LAST_INSTANT_MS = 8.64e15;
const instant = oneof(
  integer({ min: -LAST_INSTANT_MS, max: LAST_INSTANT_MS }),
  double({ min: -LAST_INSTANT_MS, max: LAST_INSTANT_MS, noNaN: true }).map((ms) => ms + 0),
);
const revision = integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map(BigInt);
const optional = <T>(of: Arbitrary<T>) => option(of, { nil: undefined });

describe("EntryCompactor", () => {
  test("changes nothing that can be seen, whatever a ticket says", () => {
    const compactor = new EntryCompactor();
    const ticket = record({
      run: constantFrom(RUN_ID, "bbbbbbbbbbbb"),
      host: constantFrom("web1", "web2"),
      pid: integer(),
      state: constantFrom<Ticket["state"]>("waiting", "held", "grace"),
      enqueuedAt: instant,
      grantedAt: optional(instant),
      until: optional(instant),
      label: optional(string()),
      args: optional(constant(["-v"])),
      shared: optional(constant(true as const)),
      reset: optional(constant({ by: "ops", at: 5 })),
    });
    const change = record({
      ticket,
      create: revision,
      mod: revision,
      session: revision,
      inKey: constantFrom(RUN_ID, `~${RUN_ID}`),
    });
    assert(
      property(change, ({ ticket, create, mod, session, inKey }) => {
        const present = Object.fromEntries(Object.entries(ticket).filter(([, value]) => value !== undefined));
        const entry = { ...buildEntry(present, inKey), createRevision: create, modRevision: mod, session };
        const compact = compactor.compact(entry);
        expect(toPlain(compact)).toStrictEqual(toPlain(entry));
      }),
    );
  });

  test("keeps the id of the key if the ticket states another run", () => {
    expect(new EntryCompactor().compact(buildEntry({}, "cccccccccccc")).run).toBe("cccccccccccc");
  });

  test("leaves an entry that cannot be read, or with a revision that a number cannot hold, as it is", () => {
    const compactor = new EntryCompactor();
    for (const entry of [
      { ...buildEntry(), ticket: undefined },
      { ...buildEntry(), modRevision: 2n ** 53n + 1n },
    ])
      expect(compactor.compact(entry)).toBe(entry);
  });

  test("forgets when there are too many texts, and still answers", () => {
    const compactor = new EntryCompactor();
    const hosts = Array.from({ length: 25_000 }, (_, at) => `web${at}`);
    expect(hosts.map((host) => compactor.compact(buildEntry({ host })).ticket?.host)).toEqual(hosts);
  });
});

test("the revisions of keys are those of a plain map, whatever is set and deleted", () => {
  const change = record({
    key: constantFrom(
      ...["x", "y"].flatMap((name) => ["a", "b", "~a"].map((run) => keys.lock(name, run))),
      keys.group("web"),
    ),
    mod: revision,
    does: constantFrom("set", "delete"),
  });
  assert(
    property(array(change), (changes) => {
      const revisions = new EntryRevisions();
      const plain = new Map<string, bigint>();
      for (const { key, mod, does } of changes) {
        if (does === "delete") {
          revisions.delete(key);
          plain.delete(key);
          continue;
        }
        plain.set(key, mod);
        revisions.set(key, mod);
        const run = key.replace(/.*\//, "");
        const kv = createKeyValue(key, serializeTicket(createTicket({ run: run.replace("~", "") })));
        if (keys.parseQueueKey(key) !== undefined)
          revisions.setEntry(new EntryCompactor().compact({ ...toQueueEntry(kv), modRevision: mod }));
      }
      const found = Array.from(revisions.keys(), (key) => [key, revisions.get(key)] as const);
      expect(new Map(found)).toEqual(plain);
      expect([found.length, revisions.size]).toEqual([plain.size, plain.size]);
    }),
  );
});
