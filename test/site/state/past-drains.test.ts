/** Drains of the past, as tables of audit records and stored drains. */
import { expect, it } from "vitest";
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

it.each([
  ["a stored one that has ended", [stored(9, 4)], ["lock x 9-4 expired"]],
  [
    "lifted twice",
    [audit("drain", "all", 9), audit("undrain", "all", 4), audit("undrain", "all", 3)],
    ["all all 9-4 lifted"],
  ],
  [
    "set twice, then lifted",
    [audit("drain", "host a", 9), audit("drain", "host a", 8), audit("undrain", "host a", 4)],
    ["host a 9-4 lifted"],
  ],
  [
    "set, lifted and set again",
    [audit("drain", "lock x", 9), audit("undrain", "lock x", 7), audit("drain", "lock x", 5), stored(5)],
    ["lock x 5- active", "lock x 9-7 lifted"],
  ],
  [
    "it ended by itself, and its key is gone",
    [audit("drain", "group g", 9_000, "drained for 5s")],
    ["group g 9000-4000 expired"],
  ],
  [
    "lifted before its end",
    [audit("drain", "group g", 9_000, "drained for 5s"), audit("undrain", "group g", 8_000)],
    ["group g 9000-8000 lifted"],
  ],
  ["no end is recorded", [audit("drain", "lock x", 9)], ["lock x 9- unknown"]],
  ["only the end is recorded", [audit("undrain", "lock x", 9)], []],
  ["later than the time", [audit("drain", "lock x", -9)], []],
  ["other actions, strange targets", [audit("reset", "lock x", 9), audit("drain", "moon x", 8)], []],
  [
    "names with spaces, as old keys may have",
    [audit("drain", "lock a b", 9), audit("undrain", "lock a b", 4)],
    ["lock a b 9-4 lifted"],
  ],
])("drains that are known: %s", (_, kvs, found) => {
  const drains = listPastDrains(createSnapshot(kvs), NOW).map(
    ({ scope, name, from, until, end }) =>
      `${scope} ${name} ${NOW - from}-${until === undefined ? "" : NOW - until} ${end}`,
  );
  expect(drains).toEqual(found);
});
