import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createQueueEntry } from "../../../fixtures/protocol/samples.ts";
import { admit, isHolding } from "../../../src/core/protocol/admission.ts";
import type { Queue, QueueEntry, Ticket } from "../../../src/core/protocol/ticket.ts";

type Short = readonly [run: string, count?: number, state?: Ticket["state"]];

/** Creates a queue in this order. A run without a count has a malformed ticket. */
function queue(...shorts: Short[]): Queue {
  return shorts.map(([run, count, state = "waiting"], at) =>
    createQueueEntry(run, at + 1, count === undefined ? undefined : { count, state, total: 100 }),
  );
}

/** Creates the queue of a lock: `r` shares it, `W` does not, `?` is malformed; with the state after a colon. */
function shared(...words: string[]): Queue {
  return words.map((word, at) => {
    const [run = "", state = "waiting"] = word.split(":");
    const units = { count: 1, total: 1, state: state as Ticket["state"] };
    if (run === "?") return createQueueEntry(run, at + 1, undefined);
    return createQueueEntry(run, at + 1, run.startsWith("r") ? { ...units, shared: true } : units);
  });
}

describe("first come, first served", () => {
  test.each([
    ["one unit short", queue(["a", 1], ["b", 2]), 2, "b", { kind: "waiting", missing: 1, total: 2 }],
    ["held behind, in the way", queue(["a", 2], ["b", 2, "held"]), 3, "a", { kind: "waiting", missing: 1 }],
    ["malformed ahead weighs all", queue(["a"], ["b", 1]), 100, "b", { kind: "waiting", missing: 1 }],
    ["not there", queue(["a", 1]), 1, "x", { kind: "gone" }],
  ])("%s", (_, entries, total, run, expected) => {
    expect(admit(entries, run, total)).toMatchObject(expected);
  });

  test.each([
    ["beside one that shares", shared("r:held", "r2"), "r2", { kind: "admitted" }],
    ["behind one that shares and waits", shared("r", "r2"), "r2", { kind: "admitted" }],
    ["behind one that does not", shared("W:held", "r"), "r", { kind: "waiting", missing: 1 }],
    [
      "behind one that does not, and waits",
      shared("r:held", "W", "r2"),
      "r2",
      { kind: "waiting", missing: 1 },
    ],
    ["in grace", shared("r:grace", "r2"), "r2", { kind: "admitted" }],
    [
      "alone, behind those that share",
      shared("r:held", "r2:held", "W"),
      "W",
      { kind: "waiting", missing: 2 },
    ],
    ["alone, behind one that shares and waits", shared("r", "W"), "W", { kind: "waiting", missing: 1 }],
    ["alone, when they are gone", shared("W", "r"), "W", { kind: "admitted" }],
    ["behind a malformed one", shared("?", "r"), "r", { kind: "waiting", missing: 1 }],
  ])("shared: %s", (_, entries, run, expected) => {
    expect(admit(entries, run, 1)).toMatchObject(expected);
  });

  test("who waits is told who is ahead, the nearest first", () => {
    const entries = queue(["a", 1, "held"], ["b"], ["c", 1], ["d", 1], ["e", 1, "held"]);
    expect(admit(entries, "d", 9)).toMatchObject({ ahead: [entries[2], entries[1], entries[0]] });
    expect(entries.map(({ run }) => run)).toEqual(["a", "b", "c", "d", "e"]);
  });
});

const shortTicket = fc.record({
  count: fc.integer({ min: 1, max: 4 }),
  total: fc.integer({ min: 1, max: 8 }),
  state: fc.constantFrom("waiting", "admitted", "held", "grace") as fc.Arbitrary<Ticket["state"]>,
});
const anyQueue = fc
  .array(fc.option(shortTicket, { nil: undefined, freq: 8 }), { maxLength: 6 })
  .map((tickets) => tickets.map((ticket, at) => createQueueEntry(`r${at}`, at + 1, ticket)));
const anyTotal = fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined });

/** Gives every unit a taker, one after the other; says how many find none. */
function unitsShort(entries: Queue, own: number, total: number) {
  const takers = entries.flatMap(({ ticket }, at) => {
    const isBefore = at <= own || ticket?.state === "held" || ticket?.state === "grace";
    return isBefore ? Array.from({ length: ticket?.count ?? total }, () => at) : [];
  });
  return takers.slice(total).length;
}

describe("any queue", () => {
  test("is decided as by handing out the units one by one", () => {
    fc.assert(
      fc.property(anyQueue, anyTotal, (entries, configured) => {
        for (const [at, { run, ticket }] of entries.entries()) {
          const stated = entries.slice(0, at + 1).flatMap((entry) => entry.ticket?.total ?? []);
          const total = configured ?? Math.min(...stated);
          const found = admit(entries, run, configured);
          if (ticket === undefined) expect(found).toEqual({ kind: "gone" });
          else if (isHolding(entries[at])) expect(found).toEqual({ kind: "admitted", total });
          else if (configured !== undefined && ticket.count > configured)
            expect(found).toEqual({ kind: "impossible", count: ticket.count, total });
          else {
            const missing = unitsShort(entries, at, total);
            expect(found).toMatchObject(missing === 0 ? { kind: "admitted" } : { kind: "waiting", missing });
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("admits no run while an earlier one waits, and never more units than the total", () => {
    fc.assert(
      fc.property(anyQueue, anyTotal, (entries, configured) => {
        const found = entries.map(({ run }) => admit(entries, run, configured));
        const isIn = (at: number) => found[at]?.kind === "admitted";
        const last = entries.findLastIndex((entry, at) => isIn(at) && !isHolding(entry));
        if (last < 0) return;
        for (let at = 0; at < last; at += 1) expect(isIn(at)).toBe(true);
        const total = found[last]?.kind === "admitted" ? found[last].total : 0;
        const taken = entries
          .filter((_, at) => isIn(at))
          .reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0);
        expect(taken).toBeLessThanOrEqual(total);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** What can happen to a queue whose total stays as it is. */
type QueueChange =
  | { kind: "join"; ticket: Partial<Ticket> | undefined }
  | { kind: "leave" | "grant"; at: number };

const anyEvents = (ticket: fc.Arbitrary<Partial<Ticket> | undefined>, maxLength: number) =>
  fc.array(
    fc.oneof<fc.Arbitrary<QueueChange>[]>(
      fc.record({ kind: fc.constant("join" as const), ticket }),
      fc.record({ kind: fc.constant("leave" as const), at: fc.nat(6) }),
      fc.record({ kind: fc.constant("grant" as const), at: fc.nat(6) }),
    ),
    { maxLength },
  );

/** Plays events. After each, all admitted runs that are left are still admitted. `check` gets the queue and the admitted runs. */
function play(
  events: readonly QueueChange[],
  configured: number | undefined,
  check: (entries: QueueEntry[], inside: QueueEntry[]) => void,
) {
  let entries: QueueEntry[] = [];
  let before = new Set<string>();
  for (const [number, what] of events.entries()) {
    const isAdmitted = ({ run }: QueueEntry) => admit(entries, run, configured).kind === "admitted";
    if (what.kind === "join") entries = [...entries, createQueueEntry(`r${number}`, number + 1, what.ticket)];
    else if (what.kind === "leave") entries = entries.toSpliced(what.at, 1);
    else {
      const entry = entries[what.at];
      if (entry?.ticket && isAdmitted(entry)) entry.ticket.state = "held";
    }
    const inside = entries.filter(isAdmitted);
    for (const entry of entries) if (before.has(entry.run)) expect(inside).toContain(entry);
    check(entries, inside);
    before = new Set(inside.map(({ run }) => run));
  }
}

const lockTicket = fc.boolean().map((isShared) => (isShared ? { shared: true as const } : {}));

test("of a lock that some share: who is admitted stays so, and only those that share are granted together, in turn", () => {
  fc.assert(
    fc.property(anyEvents(lockTicket, 40), (events) => {
      play(events, 1, (entries, inside) => {
        const firstSole = entries.findIndex(({ ticket }) => ticket?.shared !== true);
        const count = firstSole < 0 ? entries.length : Math.max(firstSole, 1);
        expect(inside).toEqual(entries.slice(0, count));
      });
    }),
    { numRuns: 2_000 },
  );
});

const waitingTicket = fc.option(
  shortTicket.map((ticket) => ({ ...ticket, state: "waiting" as const })),
  { nil: undefined, freq: 8 },
);

test("a run that is admitted stays so, whoever joins, is granted or leaves, and never too many are", () => {
  fc.assert(
    fc.property(anyEvents(waitingTicket, 25), anyTotal, (events, configured) => {
      play(events, configured, (_, inside) => {
        const least = configured ?? Math.min(...inside.map(({ ticket }) => ticket?.total ?? 0));
        expect(inside.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0)).toBeLessThanOrEqual(least);
      });
    }),
    { numRuns: 1_000 },
  );
});
