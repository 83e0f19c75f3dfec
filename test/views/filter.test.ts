/** Which rows a filter lets pass. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildViewContext } from "../../src/state/view-context.ts";
import {
  addFieldWords,
  isFilterMatch,
  NO_FILTER,
  parseRowFilter,
  splitTimedFilter,
} from "../../src/views/filter.ts";
import { VIEWS } from "../../src/views/index.ts";
import { keys } from "../protocol/samples.ts";
import { drainOf, held, NOW, pictureOf, plain, stand } from "../state/pictures.ts";

const waiting = { state: "waiting", enqueuedAt: NOW - 5_000 } as const;

const KVS = [
  stand("lock held", "a", 1, { ...held, label: "nightly" }),
  stand("lock held", "b", 2, waiting),
  stand("lock asked", "c", 3, { ...held, reset: { by: "ann@ops", at: NOW, why: "stuck" } }),
  stand("lock kept", "d", 4, { state: "grace", until: NOW + 9 }),
  stand("lock turn", "e", 5, { state: "admitted" }),
  stand("lock next", "f", 6, waiting),
  stand("lock stopped", "g", 7, waiting),
  plain(keys.lock("bad", "h".repeat(16)), "{", 8),
  stand("lock both", "i", 9, held),
  drainOf("lock", "stopped", { by: "bob", why: "upgrade" }),
  drainOf("lock", "both", { by: "bob" }),
];

describe("a filter", () => {
  const names = (text: string) => {
    const view = VIEWS.locks;
    const snapshot = pictureOf(KVS);
    const viewContext = buildViewContext(snapshot, NOW);
    const rows =
      view.of === "queue"
        ? [...snapshot.queues.values()].flatMap((queue) => view.buildRows(queue, viewContext))
        : [];
    return rows
      .filter((row) => isFilterMatch(view, parseRowFilter(text, view), row, { wall: NOW }))
      .map((row) => view.getKey(row).slice(5));
  };
  it.each([
    { text: "", finds: 8 },
    { text: "HELD", finds: ["held", "both"] },
    { text: "state:h", finds: ["held", "both"] },
    { text: "state:held nobody", finds: [] },
    { text: "host:b.example", finds: ["held"] },
    { text: "holder:b.example", finds: [] },
    { text: "holder:c.example state:reset", finds: ["asked"] },
    { text: "nightly", finds: ["held"] },
    { text: "host:", finds: 8 },
    { text: "http://x", finds: [] },
    { text: "state:drained", finds: ["stopped", "both"] },
    { text: "state:held both", finds: ["both"] },
    { text: "1m", finds: [] },
    { text: "aaaa", finds: ["held"] },
    { text: "ccc", finds: [] },
    { text: "!state:held", finds: ["asked", "kept", "turn", "next", "stopped", "bad"] },
    { text: "!both state:held", finds: ["held"] },
    { text: "!host:b.example !holder:c.example state:h", finds: ["both"] },
    { text: "!", finds: [] },
    { text: "/^(held|next)$/", finds: ["held", "next"] },
    { text: "/^HELD$/ !drained", finds: ["held"] },
    { text: "/^n.x/", finds: ["next"] },
    { text: "/held, dr/", finds: ["both"] },
    { text: "/^N[^A-Z]xt/", finds: [] },
    { text: "/^\\p{Lu}ext$/", finds: ["next"] },
    { text: "/(?<=ne)xt$/", finds: ["next"] },
    { text: "host:/^b\\./", finds: ["held"] },
    { text: "!host:/example/", finds: ["bad"] },
    { text: "state:/eld$/", finds: ["held", "both"] },
    { text: "~held", finds: [] },
    { text: "/", finds: [] },
    { text: "/usr/bin", finds: [] },
    { text: '"held, drained"', finds: ["both"] },
    { text: '"state:held"', finds: [] },
    { text: 'host:"b.example"', finds: ["held"] },
    { text: "since:>30s", finds: ["held", "asked", "kept", "both"] },
    { text: "since:<=1m", finds: ["held", "asked", "both"] },
    { text: "since:>1m", finds: ["kept"] },
    { text: "age:>30s", finds: ["held", "asked", "kept", "both"] },
    { text: "!since:>30s", finds: ["turn", "next", "stopped", "bad"] },
    { text: "wait:>=5s", finds: ["held", "turn", "next", "stopped"] },
    { text: "wait:>5s", finds: ["turn"] },
    { text: "waiting:>0", finds: ["held", "turn", "next", "stopped", "bad"] },
    { text: "waiting:=1 held", finds: ["held"] },
    { text: "waiting:>", finds: 8 },
  ])("$text finds $finds", ({ text, finds }) => {
    if (typeof finds === "number") expect(names(text)).toHaveLength(finds);
    else expect(names(text)).toEqual(finds);
  });

  it.each([
    ['say "it', 'a quote is not closed: "\\"it"'],
    ["/(/", 'pattern "(": unterminated group'],
    ["!host:/[z-a]/", 'pattern "[z-a]": range out of order in character class'],
    ["/a{2/", 'pattern "a{2": incomplete quantifier'],
    ["since:>5", 'since: "5" has no unit; write 5s for seconds'],
    ["since:>x", 'since: "x" is not a duration; write it as 30s, 0.5s, 5m, 1h30m or 2d'],
    ["waiting:>5m", 'waiting: "5m" is not a number'],
    ["name:>5", 'locks has no number or time "name"; use one of since, waiting, longest, token'],
  ])("%s is wrong, matches nothing, and says why", (text, fault) => {
    expect(parseRowFilter(text, VIEWS.locks).fault).toBe(fault);
    expect(names(text)).toEqual([]);
  });

  it("names no column where no column has a number", () => {
    expect(parseRowFilter("since:>5s", VIEWS.problems).fault).toBe(
      'problems has no number or time "since"; it has none',
    );
  });

  it("takes the words of flags as they are", () => {
    const filter = addFieldWords(NO_FILTER, { host: "!B.example", state: undefined });
    expect(filter.terms).toEqual([{ isInverse: false, test: { of: "host", word: "!b.example" } }]);
  });

  it("separates what time can change", () => {
    const { steady, timed } = splitTimedFilter(parseRowFilter("a since:>1h waiting:>1", VIEWS.locks));
    expect([steady.terms.length, timed.terms.length]).toEqual([2, 1]);
  });

  it("never throws, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(names(text).length).toBeLessThanOrEqual(8);
      }),
    );
  });
});
