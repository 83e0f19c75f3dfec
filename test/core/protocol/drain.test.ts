import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, generateText, keys } from "../../../fixtures/protocol/samples.ts";
import {
  type Drain,
  hasEnded,
  isDrainApplicable,
  isEveryQueueStopped,
  isSameTarget,
  parseDrain,
  type RunTargets,
  serializeDrain,
} from "../../../src/core/protocol/drain.ts";
import type { DrainScope } from "../../../src/core/protocol/keys.ts";

const drain = (scope: DrainScope, name: string): Drain => ({
  key: keys.drain(scope, name),
  scope,
  name,
  by: "op",
  at: 0,
  modRevision: 4n,
});
const kv = (key: string, value: string) => ({ key, value, createRevision: 3n, modRevision: 4n, session: 0n });

describe("a run with a lock and two resources, on a host in two groups", () => {
  const reach: RunTargets = {
    locks: ["invoices"],
    resources: ["db", "mem"],
    host: "Web1.example.com",
    groups: ["web", "all"],
  };
  test.each<[DrainScope, string, boolean]>([
    ["all", "all", true],
    ["lock", "invoices", true],
    ["lock", "Invoices", false],
    ["lock", "db", false],
    ["resource", "db", true],
    ["resource", "mem", true],
    ["resource", "invoices", false],
    ["resource", "DB", false],
    ["host", "web1.example.com", true],
    ["host", "WEB1.EXAMPLE.COM", true],
    ["host", "web1.example.com.", true],
    ["host", "web1", false],
    ["host", "web", false],
    ["group", "web", true],
    ["group", "all", true],
    ["group", "WEB", false],
    ["group", "db", false],
  ])("a drain of %s %s stops it: %s", (scope, name, expected) => {
    expect(isDrainApplicable(drain(scope, name), reach)).toBe(expected);
  });
});

test.each<[DrainScope, string, boolean]>([
  ["all", "all", true],
  ["lock", "undefined", false],
  ["resource", "undefined", false],
  ["group", "web", false],
  ["host", "h.x", true],
])("a run with nothing but its host is stopped by a drain of %s %s: %s", (scope, name, expected) => {
  expect(isDrainApplicable(drain(scope, name), { locks: [], resources: [], host: "h.x", groups: [] })).toBe(
    expected,
  );
});

test.each<[one: [DrainScope, string], other: [DrainScope, string], expected: boolean]>([
  [["lock", "a"], ["lock", "a"], true],
  [["lock", "a"], ["lock", "A"], false],
  [["lock", "a"], ["resource", "a"], false],
  [["host", "H.x"], ["host", "h.X."], true],
  [["host", "."], ["host", ""], false],
  [["all", "all"], ["all", "x"], true],
  [["group", "all"], ["all", "all"], false],
])("drains of %s and of %s are about the same thing: %s", (one, other, expected) => {
  expect(isSameTarget(drain(...one), drain(...other))).toBe(expected);
});

describe("whether a drain stops every queue that a run stands in", () => {
  const places: Record<string, { locks: readonly string[]; resources: readonly string[] }> = {
    "a lock": { locks: ["a"], resources: [] },
    "a resource": { locks: [], resources: ["db"] },
    "a lock and a resource of one name": { locks: ["a"], resources: ["a"] },
    "two resources": { locks: [], resources: ["db", "mem"] },
    nothing: { locks: [], resources: [] },
  };
  test.each<[DrainScope, string, string, boolean]>([
    ["all", "all", "a lock", true],
    ["all", "all", "two resources", true],
    ["all", "all", "a lock and a resource of one name", true],
    ["all", "all", "nothing", true],
    ["lock", "a", "a lock", true],
    ["lock", "b", "a lock", false],
    ["lock", "a", "a lock and a resource of one name", false],
    ["lock", "db", "a resource", false],
    ["lock", "a", "nothing", false],
    ["resource", "db", "a resource", true],
    ["resource", "mem", "a resource", false],
    ["resource", "a", "a lock", false],
    ["resource", "a", "a lock and a resource of one name", false],
    ["resource", "db", "two resources", false],
    ["resource", "db", "nothing", false],
    ["host", "a", "a lock", false],
    ["group", "a", "a lock", false],
    ["host", "db", "a resource", false],
    ["group", "db", "a resource", false],
  ])("%s %s, standing in %s: %s", (scope, name, where, expected) => {
    expect(isEveryQueueStopped(drain(scope, name), places[where] ?? { locks: [], resources: [] })).toBe(
      expected,
    );
  });
});

test.each([
  [undefined, 5, false],
  [6, 5, false],
  [5, 5, true],
  [4, 5, true],
  [0, 5, true],
  [-1, 0, true],
])("until %s, at %d: has ended %s", (until, wall, expected) => {
  expect(hasEnded(until === undefined ? {} : { until }, wall)).toBe(expected);
});

describe("a drain's value", () => {
  test("is read back as it was written", () => {
    const written = fc.record(
      { by: fc.string(), at: fc.nat(), why: generateText(), until: fc.nat() },
      { requiredKeys: ["by", "at"] },
    );
    fc.assert(
      fc.property(written, (details) => {
        const key = keys.drain("lock", "a/b");
        const expected = { key, scope: "lock", name: "a/b", modRevision: 4n, ...details };
        expect(parseDrain(keys, kv(key, serializeDrain(details)))).toEqual(expected);
      }),
    );
  });

  test.each([
    "",
    "null",
    "[]",
    "4",
    '"x"',
    "{",
    '{"by":4,"at":"x","why":{},"until":"soon"}',
    '{"until":null}',
  ])("drains though it is %j, and for ever", (value) => {
    expect(parseDrain(keys, kv(keys.drain("all", "all"), value))).toEqual({
      key: keys.drain("all", "all"),
      scope: "all",
      name: "all",
      by: "unknown",
      at: 0,
      modRevision: 4n,
    });
  });

  test("stops everything in the scope all, with any name in its key", () => {
    const key = `${keys.drains().key}all/by-hand`;
    expect(parseDrain(keys, kv(key, "{}"))).toMatchObject({ key, scope: "all", name: "all" });
  });

  test("cannot say that it is another's", () => {
    const value = JSON.stringify({ scope: "all", name: "all", key: "x", modRevision: 9, until: 5 });
    expect(parseDrain(keys, kv(keys.drain("host", "h.x"), value))).toMatchObject({
      scope: "host",
      name: "h.x",
      key: keys.drain("host", "h.x"),
      modRevision: 4n,
      until: 5,
    });
  });

  test("never makes reading throw, and a key of something else is no drain", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), bytes), bytes, (value, path) => {
        const key = keys.drain("group", "web");
        expect(parseDrain(keys, kv(key, value))).toMatchObject({ scope: "group", name: "web" });
        expect(parseDrain(keys, kv(`/signalbox/hosts/${path}`, value))).toBeUndefined();
      }),
    );
  });
});
