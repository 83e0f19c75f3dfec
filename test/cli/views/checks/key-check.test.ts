import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createEndedRun,
  createHistoryKey,
  createKeyValue,
  createSnapshot,
  createTicketKey,
  NOW,
  toRunId,
} from "../../../../fixtures/state/sample-snapshots.ts";
import { HostClockCheck, KeyCheck } from "../../../../src/cli/views/checks/key-check.ts";
import type { PastRun } from "../../../../src/core/protocol/history.ts";
import { createKeys } from "../../../../src/core/protocol/keys.ts";
import type { KeyValue } from "../../../../src/core/protocol/txn.ts";

const past = (change: Partial<PastRun>) =>
  createEndedRun({ grantedAt: NOW - 9_000, endedAt: NOW - 8_000, ...change });
const history = (...runs: PastRun[]) => createHistoryKey("x", ...runs);

/** In the order of keys, as they are read. */
const findings = (kvs: readonly KeyValue[]) => {
  const check = new KeyCheck(keys, createSnapshot(kvs));
  for (const kv of [...kvs].sort((a, b) => (a.key < b.key ? -1 : 1))) check.add(kv, NOW);
  return check.listFindings("here.x", NOW);
};
const told = (kvs: readonly KeyValue[]) =>
  findings(kvs).map(({ kind, level, check, detail }) => `${level} ${kind} ${check}: ${detail}`);
const worth = (kvs: readonly KeyValue[]) => told(kvs).filter((line) => !line.startsWith("ok clock"));

describe("every key under the prefix", () => {
  test("all is well: how many there are", () => {
    const kvs = [
      createTicketKey("lock x held", "a", 5, { enqueuedAt: NOW }),
      createTicketKey("resource db", "a", 6),
      history(),
    ];
    expect(told(kvs)).toEqual([
      "ok keys keys: 3 under /signalbox/, 2 of them tickets",
      expect.stringMatching(/^ok clock clocks of hosts: 1 host wrote/),
    ]);
  });

  test("keys below a prefix of CRONLOCK_DB may be held: no word of deleting them", () => {
    const inner = createKeys(`${keys.prefix}db3/`);
    const kvs = [createKeyValue(inner.lock("x", toRunId("a")), "1"), createKeyValue(inner.history("x"), "1")];
    expect(worth(kvs)).toEqual([
      "ok keys keys: 2 under /signalbox/, 0 of them tickets",
      "ok keys prefix /signalbox/db3/: a prefix of its own (CRONLOCK_DB), with 2 keys; check it with --prefix /signalbox/db3/",
    ]);
    expect(worth([createKeyValue("/signalbox/db3/else", "1")])).toEqual([
      "warning malformed key /signalbox/db3/else: not a key of signalbox",
    ]);
  });

  test.each([
    [
      "a value of a size that signalbox does not write",
      createKeyValue(keys.history("x"), `{"v":1,"runs":[],"pad":"${"x".repeat(300_000)}"}`),
      /^warning large-value key .*history\/x: its value has 293 KiB/,
    ],
    [
      "a key of nobody",
      createKeyValue("/signalbox/else", "1"),
      /^warning malformed key \/signalbox\/else: not a key/,
    ],
    [
      "a ticket that is none",
      createKeyValue(keys.lock("x", toRunId("a")), "hello"),
      /^failure malformed lock x: the ticket .* cannot be read/,
    ],
    [
      "a drain in no JSON",
      createKeyValue(keys.drain("lock", "x"), "stop!"),
      /^warning malformed key .*drains\/lock\/x: .*still applies/,
    ],
    ["a history in no JSON", createKeyValue(keys.history("x"), "[]"), /^warning malformed key .*history\/x/],
    [
      "a host that says nothing",
      createKeyValue(keys.host("a.x"), "?"),
      /^warning malformed key .*hosts\/a.x/,
    ],
    [
      "a record that is none",
      createKeyValue(keys.audit("00000000000000000000"), "{}"),
      /^warning malformed key .*audit/,
    ],
    [
      "a resource that cannot be read",
      createKeyValue(keys.resourceConfig("db"), "[]"),
      /^failure malformed resource db/,
    ],
    ["a group that cannot be read", createKeyValue(keys.group("web"), "{"), /^failure malformed group web/],
    [
      "a host of a group that nobody saw",
      createKeyValue(keys.group("web"), '["a.x"]'),
      /^warning host group web: not seen/,
    ],
  ])("%s", (_, kv, found) => {
    expect(worth([kv])[0]).toMatch(found);
    expect(findings([kv])[0]?.remedy).toBeTruthy();
  });

  test("totals that disagree, over all tickets of a queue", () => {
    const kvs = [
      createTicketKey("resource db", "a", 5, { total: 3 }),
      createTicketKey("resource db", "b", 6, { total: 4 }),
      createTicketKey("resource dc", "c", 7, { total: 9 }),
    ];
    expect(worth(kvs)).toEqual([
      expect.stringMatching(/^warning totals resource db: runs state totals of 3, 4/),
    ]);
  });

  test("a lock that is held long and waited for long is no fault of etcd", () => {
    expect(
      worth([
        createTicketKey("lock x held", "a", 5, { enqueuedAt: 1, grantedAt: 1 }),
        createTicketKey("lock x", "b", 6, { enqueuedAt: 1 }),
      ]),
    ).toEqual([expect.stringMatching(/^ok keys/)]);
  });

  test("of many of a kind, the first few and their number", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => createKeyValue(`/signalbox/else${index}`, ""));
    const found = worth([...many, { ...createTicketKey("lock x", "a", 5), session: 0n }]);
    expect(found).toHaveLength(7);
    expect(found).toContainEqual("warning malformed and: 995 more of this kind");
  });

  test("clocks: from the runs of a lock, which followed one another", () => {
    const earlier = past({ host: "fast.x", token: "5", endedAt: NOW - 1_000 });
    const later = past({ host: "b.x", token: "9", grantedAt: NOW - 600_000, endedAt: NOW - 500_000 });
    expect(told([history(later, earlier)])).toContainEqual(
      expect.stringMatching(/^warning clock clock of (fast|b).x: it is about 9m59s/),
    );
    // The order of tokens is that of grants; without it, nothing is known.
    for (const token of ["4", "x"])
      expect(told([history({ ...later, token }, earlier)])).toContainEqual(
        expect.stringMatching(/^ok clock/),
      );
  });

  test("clocks: a resource's ticket may follow its lock's as late as it pleases", () => {
    const lock = createTicketKey("lock x", "b", 50, { enqueuedAt: NOW - 1_000 });
    const late = createTicketKey("resource db", "a", 60, { enqueuedAt: NOW - 900_000 });
    expect(told([lock, late])).toContainEqual(expect.stringMatching(/^ok clock/));
  });
});

const tellClocks = (clocks: HostClockCheck) =>
  clocks.listFindings("here.x", NOW).map(({ level, check, detail }) => `${level} ${check}: ${detail}`);
/** A host writes at a revision what its clock shows. */
const stamp = (clocks: HostClockCheck, host: string, revision: number, at: number, late = 15_000) =>
  clocks.addStamp({ host, at, revision: BigInt(revision), late }, NOW);

describe("clocks of hosts", () => {
  test("nothing was written", () => {
    expect(tellClocks(new HostClockCheck())).toEqual([
      expect.stringMatching(/^ok clocks of hosts: no host has written a time/),
    ]);
  });

  test("ahead of this host's: certain, and told once with the most", () => {
    const clocks = new HostClockCheck();
    clocks.addTime("a.x", NOW + 6_000, NOW);
    clocks.addTime("A.x", NOW + 3_600_000, NOW);
    clocks.addTime("b.x", NOW + 4_000, NOW); // not worth a word
    expect(tellClocks(clocks)).toEqual([
      "warning clock of a.x: it is 1h or more ahead of this host's (here.x)",
    ]);
  });

  test("this host's own, when the clock was set back", () => {
    const clocks = new HostClockCheck();
    clocks.addTime("here.x", NOW + 60_000, NOW);
    expect(tellClocks(clocks)).toEqual([
      expect.stringMatching(/^warning clock of here.x: .*the clock was set back/),
    ]);
  });

  test("behind: by the order of revisions", () => {
    const clocks = new HostClockCheck();
    stamp(clocks, "a.x", 10, NOW - 60_000);
    stamp(clocks, "b.x", 11, NOW - 660_000);
    stamp(clocks, "c.x", 12, NOW - 50_000);
    stamp(clocks, "b.x", 13, NOW - 640_000);
    expect(tellClocks(clocks)).toEqual([
      expect.stringMatching(/^warning clock of (a|b).x: it is about 10m or more/),
    ]);
  });

  test("one that disagrees with many is the one that is named", () => {
    const clocks = new HostClockCheck();
    for (const [index, host] of ["a.x", "b.x", "c.x", "d.x"].entries()) {
      clocks.addSequence(
        { host, at: NOW - 1_000 * index },
        { host: "slow.x", at: NOW - 600_000 },
        15_000,
        NOW,
      );
    }
    expect(tellClocks(clocks)).toEqual([
      expect.stringMatching(
        /^warning clock of slow.x: it is about 10m or more behind the clock of a.x, b.x, c.x and 1 more/,
      ),
    ]);
  });

  test.each([
    ["a write that took as long as it may", NOW - 1_000, NOW - 15_000],
    ["what was long ago", NOW - 200_000_000, NOW - 300_000_000],
  ])("%s is no fault of the clock", (_, first, second) => {
    const clocks = new HostClockCheck();
    clocks.addSequence({ host: "a.x", at: first }, { host: "b.x", at: second }, 15_000, NOW);
    expect(tellClocks(clocks)).toEqual([expect.stringMatching(/^ok/)]);
  });

  test("clocks that agree within the time a write may take are never blamed", () => {
    const write = fc.record({
      host: fc.constantFrom("a.x", "b.x", "c.x"),
      pause: fc.integer({ min: 0, max: 20_000 }),
      delay: fc.integer({ min: 0, max: 15_000 }),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        const clocks = new HostClockCheck();
        let time = NOW - 60 * 20_000;
        for (const [revision, { host, pause, delay }] of writes.entries()) {
          time += pause;
          stamp(clocks, host, revision, time - delay); // written down before it was written
        }
        expect(tellClocks(clocks)).toEqual([expect.stringMatching(/^ok/)]);
      }),
    );
  });

  test("many hosts and many times cost only so much", () => {
    const clocks = new HostClockCheck();
    for (let revision = 0; revision < 20_000; revision += 1)
      stamp(clocks, `h${revision % 6_000}.x`, revision, NOW - 20_000 + revision);
    expect(tellClocks(clocks)).toEqual([expect.stringMatching(/^ok clocks of hosts: 5000 hosts/)]);
  });
});
