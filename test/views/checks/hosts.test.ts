import { describe, expect, test } from "vitest";
import type { KeyValue } from "../../../src/protocol/txn.ts";
import { findStaleHosts, judgeHosts } from "../../../src/views/checks/hosts.ts";
import { keys } from "../../protocol/samples.ts";
import { drainOf, groupOf, hostOf, NOW, pictureOf, plain } from "../../state/pictures.ts";

const HOUR = 3_600_000;
const seen = (name: string, ago: number) => hostOf(name, { seenAt: NOW - ago });

const sight = (kvs: readonly KeyValue[], running: string[] = []) => ({
  snapshot: pictureOf(kvs),
  running: new Set(running),
  within: HOUR,
  wall: NOW,
});
const told = (kvs: readonly KeyValue[], running: string[] = [], wanted: string[] = []) =>
  judgeHosts(sight(kvs, running), wanted).map(({ check, level, detail }) => `${level} ${check}: ${detail}`);

describe("groups and their hosts", () => {
  test.each<[what: string, kvs: KeyValue[], running: string[], found: string[]]>([
    ["nothing is configured", [], [], ["ok groups: none configured"]],
    ["seen lately", [groupOf("g", "a.x"), seen("a.x", 60_000)], [], ["ok group g: 1 of 1 host is active"]],
    [
      "seen as lately as hosts say that they are there",
      [groupOf("g", "a.x"), seen("a.x", HOUR + 299_000)],
      [],
      ["ok group g: 1 of 1 host is active"],
    ],
    [
      "not lately",
      [groupOf("g", "a.x"), seen("a.x", 2 * HOUR)],
      [],
      ["failure group g: none of its 1 host was seen within 1h: a.x (2h ago)"],
    ],
    [
      "not lately, but a run of it lives",
      [groupOf("g", "A.x"), seen("a.x", 2 * HOUR)],
      ["a.x"],
      ["ok group g: 1 of 1 host is active"],
    ],
    ["never, but a run of it lives", [groupOf("g", "a.x")], ["a.x"], ["ok group g: 1 of 1 host is active"]],
    [
      "one of two",
      [groupOf("g", "a.x", "b.x"), seen("a.x", 0), seen("b.x", 5 * HOUR)],
      [],
      ["ok group g: 1 of 2 hosts is active", "warning group g: not seen within 1h: b.x (5h ago)"],
    ],
    [
      "a short name",
      [groupOf("g", "a", "b.x"), seen("a.x", 0), seen("b.x", 0)],
      [],
      [
        "ok group g: 1 of 2 hosts is active",
        'warning group g: neither a group nor a host that was ever seen: a (did you mean "a.x"?)',
      ],
    ],
    [
      "through a group",
      [groupOf("g", "h"), groupOf("h", "a.x"), seen("a.x", 0)],
      [],
      ["ok group g: 1 of 1 host is active", "ok group h: 1 of 1 host is active"],
    ],
    ["empty", [groupOf("g")], [], ["failure group g: it has no hosts: nothing can run in it"]],
    [
      "malformed",
      [plain(keys.group("g"), "{")],
      [],
      [expect.stringMatching(/^failure group g: it cannot be read/)],
    ],
    [
      "all that are there are drained",
      [groupOf("g", "a.x", "b.x"), seen("a.x", 0), seen("b.x", 5 * HOUR), drainOf("group", "g")],
      [],
      ["warning group g: 1 of 2 hosts is active, and all of them are drained: nothing starts"],
    ],
    [
      "a drained one may be away",
      [groupOf("g", "a.x", "b.x"), seen("a.x", 0), seen("b.x", 5 * HOUR), drainOf("host", "b.x")],
      [],
      ["ok group g: 1 of 2 hosts is active"],
    ],
    [
      "a circle",
      [groupOf("g", "h", "a.x"), groupOf("h", "g"), seen("a.x", 0)],
      [],
      [
        "ok group g: 1 of 1 host is active",
        "ok group h: 1 of 1 host is active",
        expect.stringMatching(/^hint groups: groups contain each other in a circle/),
      ],
    ],
  ])("%s", (_, kvs, running, found) => {
    expect(told(kvs, running)).toEqual(found);
  });

  test("only those that are asked for, also ones that are not there", () => {
    const kvs = [groupOf("g", "a.x"), groupOf("h"), seen("a.x", 0)];
    expect(told(kvs, [], ["g"])).toEqual(["ok group g: 1 of 1 host is active"]);
    expect(told(kvs, [], ["k"])).toEqual([expect.stringMatching(/^failure group k: there is no group "k"/)]);
  });

  test("runs are looked for only of hosts that were not seen in time", () => {
    const kvs = [groupOf("g", "A.x", "b.x"), groupOf("h", "c.x"), seen("b.x", 0)];
    expect([...findStaleHosts(sight(kvs), [])].sort()).toEqual(["a.x", "c.x"]);
    expect([...findStaleHosts(sight(kvs), ["g", "nope"])]).toEqual(["a.x"]);
  });
});
