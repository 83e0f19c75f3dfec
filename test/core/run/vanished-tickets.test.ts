import { expect, test } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { VanishedTickets } from "../../../src/core/run/vanished-tickets.ts";

const mark = (term?: bigint) => [{ key: "a/~run", vanished: { ttl: 30, term } }];

test("a mark may be removed at once if the read is of the term in which its session was granted", () => {
  const vanished = new VanishedTickets(new ManualClock());
  expect(vanished.update(mark(5n), 5n).get("a/~run")).toBeUndefined();
  expect(vanished.update(mark(5n), 5n).has("a/~run")).toBe(true);
});

test.each([
  ["another term", 5n],
  ["no certain term", undefined],
])("with %s, when the whole time to live has passed since the first read", async (_, term) => {
  const clock = new ManualClock();
  const vanished = new VanishedTickets(clock);
  const until = clock.getWallTime() + 30_000;
  expect(vanished.update(mark(term), 6n).get("a/~run")).toBe(until);
  await clock.advance(29_999);
  expect(vanished.update(mark(term), 7n).get("a/~run")).toBe(until);
  await clock.advance(1);
  expect(vanished.update(mark(term), 7n).get("a/~run")).toBeUndefined();
});

test("not at once if another read has stated a later term: a member may state an old one", async () => {
  const clock = new ManualClock();
  const vanished = new VanishedTickets(clock);
  vanished.update([], 6n);
  expect(vanished.update(mark(5n), 5n).get("a/~run")).toBe(clock.getWallTime() + 30_000);
});

test("a ticket that is there has no such time", () => {
  expect([...new VanishedTickets(new ManualClock()).update([{ key: "a/run" }], 5n)]).toEqual([]);
});
