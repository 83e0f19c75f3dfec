/** Which records expire, and what is deleted of them. */
import { describe, expect } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { createHistoryKey } from "../../../fixtures/state/sample-snapshots.ts";
import { formatAuditTime, parseAuditTime } from "../../../src/core/protocol/audit.ts";
import {
  type DatedRecord,
  deleteExpired,
  ExpiredRecords,
  type RetentionLimits,
  readExpired,
} from "../../../src/site/operate/retention.ts";
import { test } from "./operator-fixture.ts";

const DAY = 86_400_000;
const NOW = 1_000 * DAY;

/** @param days  ages of the records, in the order in which they were written. @returns the ages of those that expire */
function findExpiredAges(days: readonly number[], limits: RetentionLimits, spared = 0) {
  const expired = new ExpiredRecords(limits, NOW, spared * DAY);
  const records = days.map((age, index): DatedRecord => {
    return { key: String(index), modRevision: BigInt(index + 1), at: NOW - age * DAY };
  });
  for (const record of records.toReversed()) expired.add(record);
  return expired.list().map(({ key }) => days[Number(key)] ?? Number.NaN);
}

describe("records expire", () => {
  test.each([
    // case, ages in days, oldest write first, limits, expired
    ["by age", [200, 100, 91, 89, 1], { age: 90 * DAY, count: undefined }, [200, 100, 91]],
    ["by number", [5, 4, 3, 2, 1], { age: 90 * DAY, count: 2 }, [5, 4, 3]],
    ["by both", [200, 100, 3, 2, 1], { age: 90 * DAY, count: 2 }, [200, 100, 3]],
    ["never without limits", [9_000, 1], { age: undefined, count: undefined }, []],
    ["not if they are few", [3, 2, 1], { age: undefined, count: 3 }, []],
    [
      "not by age if nothing younger was written: no growth, or a clock far ahead",
      [200, 100],
      { age: 90 * DAY, count: 10 },
      [],
    ],
    [
      "not by a time that is behind: what was written before is young",
      [50, 9_000, 1],
      { age: 90 * DAY, count: 10 },
      [],
    ],
    [
      "by a time that is behind, when that has become old",
      [95, 9_000, 1],
      { age: 90 * DAY, count: 10 },
      [95, 9_000],
    ],
    ["beside a time that is still to come", [-400, 200, 1], { age: 90 * DAY, count: 10 }, [200]],
    [
      "by number although the time cannot be known to be old",
      [-400, 200, 1],
      { age: 90 * DAY, count: 1 },
      [200],
    ],
    ["not if their time cannot be read", [Number.NaN, 1], { age: 90 * DAY, count: 1 }, []],
  ])("%s", (_, ages, limits, expected) => {
    expect(findExpiredAges(ages, limits)).toEqual(expected);
  });

  test("not by number while they are spared", () => {
    expect(findExpiredAges([200, 5, 1.5, 1, 0.5], { age: undefined, count: 1 }, 2)).toEqual([200, 5]);
  });

  test("the oldest of many at first", () => {
    const expired = new ExpiredRecords({ age: undefined, count: 10_000 }, NOW, 0);
    for (let index = 0; index < 100_000; index += 1) {
      const order = (index * 7_919) % 100_000;
      expired.add({ key: String(order), modRevision: BigInt(order + 1), at: NOW - DAY });
    }
    const list = expired.list();
    expect([list.length, list[0]?.key, list.at(-1)?.key, expired.isCut]).toEqual([
      20_000,
      "0",
      "19999",
      true,
    ]);
  });
});

describe("the time of an audit record", () => {
  test.each([0, 1, NOW, 2 ** 49])("%d is in its id", (at) => {
    expect(parseAuditTime(`${formatAuditTime(at)}0123456789`)).toBe(at);
  });
  test.each(["", "0123", "iiiiiiiiii0123456789"])("%j has none", (id) => {
    expect(parseAuditTime(id)).toBeUndefined();
  });
});

describe("deleting", () => {
  const buildHistory = (endedAt: number) => createHistoryKey("", { endedAt }).value;

  test("leaves histories of locks that are used, and what was written again meanwhile", async ({
    operator,
  }) => {
    await operator.clock.advance(100 * DAY);
    for (const [name, day] of [
      ["idle", 1],
      ["used", 1],
      ["again", 1],
      ["young", 99],
    ] as const)
      await operator.put(keys.history(name), buildHistory(day * DAY));
    await operator.put(keys.mark(keys.lock("used", "0123456789ab")), "{}");
    const found = (await readExpired(operator.ports, "history", { age: 90 * DAY, count: undefined })).list();
    expect(found.map(({ key }) => keys.parse(key))).toEqual([
      { kind: "history", name: "idle" },
      { kind: "history", name: "again" },
    ]);
    await operator.put(keys.history("again"), buildHistory(100 * DAY));
    expect(await deleteExpired(operator.ports, found)).toBe(1);
    expect(await operator.listKeys(keys.histories())).toEqual([
      "history/again",
      "history/used",
      "history/young",
    ]);
  });

  test("goes on after a lost answer, and stops for a program that is too old", async ({ operator }) => {
    await operator.clock.advance(100 * DAY);
    for (let day = 1; day < 100; day += 1)
      await operator.put(keys.audit(`${formatAuditTime(day * DAY)}0123456789`), "{}");
    const limits = { age: undefined, count: 9 };
    const found = (await readExpired(operator.ports, "audit", limits)).list();
    operator.store.fates.push("lost", "refused");
    const deleted = await operator.advanceUntilSettled(deleteExpired(operator.ports, found));
    expect(deleted).toBe(40); // the first 50 were deleted by the call without an answer
    expect(await operator.listKeys()).toHaveLength(9);
    await operator.put(keys.schema("9999"), "");
    const rest = (await readExpired(operator.ports, "audit", { age: undefined, count: 0 })).list();
    expect(await deleteExpired(operator.ports, rest)).toBe(0);
    expect(await operator.listKeys()).toHaveLength(10);
  });
});
