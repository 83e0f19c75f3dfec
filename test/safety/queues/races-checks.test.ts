/** The checks of the race tests detect violations. */
import { expect, it } from "vitest";
import { findFallingTokens, findOveruse, type JournalLine } from "../../../fixtures/cluster/job-journal.ts";
import { findOvertakingGrants, type TicketChange } from "../../../fixtures/cluster/ticket-changes.ts";

/** Parses a journal: `a+` starts, `a.` is alive, `a-` ends. The token is the position in the alphabet; units follow. */
const parseJournal = (text: string): JournalLine[] =>
  text.split(" ").map((word) => {
    const [name = "", sign = "", units = "1"] = word;
    const what = { "+": "start", ".": "beat", "-": "end" }[sign] as JournalLine["what"];
    return { what, name, token: BigInt(name.charCodeAt(0)), units: Number(units), pid: 1, uptime: 0 };
  });

it.each([
  ["a+ a- b+ b-", 1, []],
  ["a+ b+ a- b-", 1, ["2 of 1 units used by a, b"]],
  ["a+ a. b+ b-", 1, []], // a was killed
  ["a+ b+ a. b-", 1, ["2 of 1 units used by a, b"]], // but too late
  ["a+3 b+5 a-3 c+3 b-5 c-3", 8, []],
  ["a+3 b+5 c+1 a-3 b-5 c-1", 8, ["9 of 8 units used by a, b, c"]],
])("%s with %i", (text, total, faults) => {
  expect(findOveruse(parseJournal(text), total)).toEqual(faults);
});

it("a token that falls, or comes twice", () => {
  expect(findFallingTokens(parseJournal("a+ c+ d+"))).toEqual([]);
  expect(findFallingTokens(parseJournal("a+ c+ b+"))).toEqual(["b got token 98 after c had 99"]);
  expect(findFallingTokens(parseJournal("a+ a+"))).toHaveLength(1);
});

/** `a?` waits, `a!` is granted, `a-` goes; units come after. */
const queue = (text: string): TicketChange[] =>
  text.split(" ").map((word, index) => {
    const [label = "", sign = "", units = "1"] = word;
    const state = sign === "!" ? "held" : "waiting";
    const ticket = { state, label, count: Number(units), claimedAt: BigInt(label.charCodeAt(0)) } as const;
    return { key: label, revision: BigInt(index), ticket: sign === "-" ? undefined : ticket };
  });

it.each([
  ["a?3 b?5 b!5 a!3", 8, 0], // either may be first
  ["a?3 b?6 c?2 a!3 c!2", 8, 1], // c takes what b waits for
  ["a?3 b?6 c?2 a!3 a- b!6 c!2", 8, 0],
  ["a?3 b?6 a!3 b!6", 8, 1],
])("%s of %i", (text, total, faults) => {
  expect(findOvertakingGrants(queue(text), total)).toHaveLength(faults);
});
