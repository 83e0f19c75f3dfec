/** Which rows a filter lets pass. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDrainKey, createTicketKey, held } from "../../../fixtures/state/sample-snapshots.ts";
import { addFieldWords, NO_FILTER, parseRowFilter, splitTimedFilter } from "../../../src/cli/views/filter.ts";
import { VIEWS } from "../../../src/cli/views/index.ts";
import { locksView } from "../../../src/cli/views/queues.ts";
import { LOCKS } from "./locks.ts";
import { showView } from "./rows.ts";

const { passing } = showView(locksView, [
  ...LOCKS,
  createTicketKey("lock both", "i", 9, held),
  createDrainKey("lock", "both", { by: "bob" }),
]);
const names = (text: string) => passing(text).map((key) => key.replace("lock/", ""));

const ALL = "asked bad both held kept next stopped turn";

describe("a filter", () => {
  it.each([
    ["", ALL],
    ["HELD", "both held"],
    ["state:h", "both held"],
    ["state:held nobody", ""],
    ["host:b.example", "held"],
    ["holder:b.example", ""],
    ["holder:c.example state:reset", "asked"],
    ["nightly", "held"],
    ["http://x", ""],
    ["state:drained", "both stopped"],
    ["state:held both", "both"],
    ["1m", ""],
    ["aaaa", "held"],
    ["ccc", ""],
    ["!state:held", "asked bad kept next stopped turn"],
    ["!both state:held", "held"],
    ["!host:b.example !holder:c.example state:h", "both"],
    ["!", ""],
    ["/^(held|next)$/", "held next"],
    ["/^HELD$/ !drained", "held"],
    ["/^n.x/", "next"],
    ["/held, dr/", "both"],
    ["/^N[^A-Z]xt/", ""],
    ["/^\\p{Lu}ext$/", "next"],
    ["/(?<=ne)xt$/", "next"],
    ["host:/^b\\./", "held"],
    ["!host:/example/", "bad"],
    ["state:/eld$/", "both held"],
    ["~held", ""],
    ["/", ""],
    ["/usr/bin", ""],
    ['"held, drained"', "both"],
    ['"state:held"', ""],
    ['host:"b.example"', "held"],
    ["since:>30s", "asked both held kept"],
    ["since:<=1m", "asked both held"],
    ["since:>1m", "kept"],
    ["age:>30s", "asked both held kept"],
    ["!since:>30s", "bad next stopped turn"],
    ["wait:>=5s", "held next stopped turn"],
    ["wait:>5s", "turn"],
    ["waiting:>0", "bad held next stopped turn"],
    ["waiting:=1 held", "held"],
  ])("%s finds %s", (text, finds) => {
    expect(names(text).join(" ")).toBe(finds);
  });

  it.each([
    ['say "it', 'a quote is not closed: "\\"it"'],
    ["/(/", 'pattern "(": unterminated group'],
    ["!host:/[z-a]/", 'pattern "[z-a]": range out of order in character class'],
    ["/a{2/", 'pattern "a{2": incomplete quantifier'],
    ["host:", "host: has no value; write one right after it, or leave it out"],
    ["state:", "state: has no value; write one right after it, or leave it out"],
    ["both !state: held", "state: has no value; write one right after it, or leave it out"],
    ['host:""', "host: has no value; write one right after it, or leave it out"],
    ["waiting:>", "waiting:> has no value; write one right after it, or leave it out"],
    ["since:>5", 'since: "5" has no unit; write 5s, 5m, 5h or 5d'],
    ["since:>x", 'since: "x" is not a duration; write it as 30s, 0.5s, 5m, 1h30m or 2d'],
    ["waiting:>5m", 'waiting: "5m" is not a number'],
    ["name:>5", 'locks has no number or time "name"; use one of since, waiting, longest, token'],
  ])("%s is wrong, matches nothing, and says why", (text, fault) => {
    expect(parseRowFilter(text, locksView).fault).toBe(fault);
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
    const { steady, timed } = splitTimedFilter(parseRowFilter("a since:>1h waiting:>1", locksView));
    expect([steady.terms.length, timed.terms.length]).toEqual([2, 1]);
  });

  it("never throws for any typed text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(names(text).length).toBeLessThanOrEqual(8);
      }),
    );
  });
});
