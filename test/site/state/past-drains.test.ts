/** Drains of the past, as tables of audit records and stored drains. */
import { describe, expect, it } from "vitest";
import {
  createAuditKey,
  createDrainKey,
  createSnapshot,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import type { AuditRecord } from "../../../src/core/protocol/audit.ts";
import { listPastDrains } from "../../../src/site/state/past-drains.ts";

const audit = (action: AuditRecord["action"], target: string, ago: number, outcome = "drained") =>
  createAuditKey(`${action}${ago}`, { at: NOW - ago, host: "web1", action, target, outcome });

const stored = (ago: number, until?: number) =>
  createDrainKey("lock", "x", {
    by: "ann@web1",
    at: NOW - ago,
    ...(until !== undefined && { until: NOW - until }),
  });

describe("drains that are known", () => {
  it.each([
    { what: "a stored one that has ended", kvs: [stored(9, 4)], found: ["lock x 9-4 expired"] },
    {
      what: "lifted twice",
      kvs: [audit("drain", "all", 9), audit("undrain", "all", 4), audit("undrain", "all", 3)],
      found: ["all all 9-4 lifted"],
    },
    {
      what: "set twice, then lifted",
      kvs: [audit("drain", "host a", 9), audit("drain", "host a", 8), audit("undrain", "host a", 4)],
      found: ["host a 9-4 lifted"],
    },
    {
      what: "set, lifted and set again",
      kvs: [
        audit("drain", "lock x", 9),
        audit("undrain", "lock x", 7),
        audit("drain", "lock x", 5),
        stored(5),
      ],
      found: ["lock x 5- active", "lock x 9-7 lifted"],
    },
    {
      what: "it ended by itself, and its key is gone",
      kvs: [audit("drain", "group g", 9_000, "drained for 5s")],
      found: ["group g 9000-4000 expired"],
    },
    {
      what: "lifted before its end",
      kvs: [audit("drain", "group g", 9_000, "drained for 5s"), audit("undrain", "group g", 8_000)],
      found: ["group g 9000-8000 lifted"],
    },
    { what: "no end is recorded", kvs: [audit("drain", "lock x", 9)], found: ["lock x 9- unknown"] },
    { what: "only the end is recorded", kvs: [audit("undrain", "lock x", 9)], found: [] },
    { what: "later than the time", kvs: [audit("drain", "lock x", -9)], found: [] },
    {
      what: "other actions, strange targets",
      kvs: [audit("reset", "lock x", 9), audit("drain", "moon x", 8)],
      found: [],
    },
    {
      what: "names with spaces, as old keys may have",
      kvs: [audit("drain", "lock a b", 9), audit("undrain", "lock a b", 4)],
      found: ["lock a b 9-4 lifted"],
    },
  ])("$what", ({ kvs, found }) => {
    const drains = listPastDrains(createSnapshot(kvs), NOW).map(
      ({ scope, name, from, until, end }) =>
        `${scope} ${name} ${NOW - from}-${until === undefined ? "" : NOW - until} ${end}`,
    );
    expect(drains).toEqual(found);
  });
});
