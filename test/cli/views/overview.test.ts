/** The whole site as one picture: what it says, and how it is drawn. */
import { describe, expect, it } from "vitest";
import { createScheduleKeys } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createDrainKey,
  createHistoryKey,
  createHostKey,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import {
  ASCII_DRAWING,
  countGraphValues,
  type Drawing,
  measureSpans,
  UNICODE_DRAWING,
} from "../../../src/cli/views/drawing.ts";
import { buildOverview } from "../../../src/cli/views/overview.ts";
import { drawHosts, drawOverview } from "../../../src/cli/views/overview-drawing.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import type { Tone } from "../../../src/site/state/subject.ts";

const WEB = "web1.example.com";
const host = (fqdn: string, seenAt = NOW) =>
  createHostKey(fqdn, { cpu: 4, memMb: 8_000, macros: {}, seenAt });
const drain = (scope: "host" | "lock", name: string) => createDrainKey(scope, name, { why: "disks" });
const failed = (lock: string, endedAt: number) =>
  createHistoryKey(
    lock,
    { endedAt: endedAt + 1 },
    { endedAt, exit: 3, reason: "\u001b]52;c;x\u0007timeout" },
  );

const SITE = [
  host(WEB),
  host("web2.example.com"),
  host("old.example.com", NOW - 3 * 86_400_000),
  createResourceKey("FQDN_cpu", { total: "CPU" }),
  drain("host", "web2.example.com"),
  createTicketKey("lock x held", "a", 1, { host: WEB, grantedAt: NOW - 60_000 }),
  createTicketKey(`resource ${WEB}_cpu held`, "a", 2, { host: WEB, count: 3, total: 4 }),
  createTicketKey("lock x", "b", 3, { host: WEB, enqueuedAt: NOW - 7_200_000 }),
  createTicketKey("lock x", "c", 4, { host: WEB, enqueuedAt: NOW - 10_000 }),
  createTicketKey("lock y", "d", 5, { host: WEB, enqueuedAt: NOW - 10_000 }),
  failed("import", NOW - 90_000),
  failed("export", NOW - 30_000),
  ...createScheduleKeys("late.one", {}, { runAt: NOW + 60_000 }),
  ...createScheduleKeys("soon.one", {}, { runAt: NOW + 5_000 }),
];
const ETCD = { kind: "answer", ms: 3.4, leader: "m1", up: 2, total: 3, version: "3.6.4" } as const;

const build = (kvs: readonly KeyValue[] = SITE, buckets?: number) =>
  buildOverview(createSnapshot(kvs), NOW, { etcd: ETCD, ...(buckets && { buckets }) });
const toText = (drawing: Drawing) =>
  drawing
    .map((line) =>
      line
        .map(({ text }) => text)
        .join("")
        .trimEnd(),
    )
    .join("\n");

describe("an overview", () => {
  it("counts runs, not tickets", () => {
    const { held, waiting, hosts, schedules, drains } = build().counts;
    expect({ held, waiting, hosts, schedules, drains }).toEqual({
      held: 1,
      waiting: 3,
      hosts: 3,
      schedules: 2,
      drains: 1,
    });
  });

  it("has the hosts by their fullest resource, the longest queue, the next run and the newest failure first", () => {
    const { hosts, queues, next, failures } = build();
    expect(
      hosts.map(({ host: name, state, isDrained, fullest }) => [name, state, isDrained, fullest?.used]),
    ).toEqual([
      ["old.example.com", "silent", false, 0],
      [WEB, "busy", false, 3],
      ["web2.example.com", "idle", true, 0],
    ]);
    expect(queues[0]).toMatchObject({ name: "x", waiting: 2, since: NOW - 7_200_000, holders: 1 });
    expect(next.map(({ id }) => id)).toEqual(["soon.one", "late.one"]);
    expect(failures.map(({ name, result }) => [name, result])).toEqual([
      ["export", "exit 3"],
      ["import", "exit 3"],
    ]);
  });

  it("takes the number of problems from a caller who knows it", () => {
    expect(buildOverview(createSnapshot(SITE), NOW, { problems: 99 }).counts.problems).toBe(99);
  });

  it("keeps only the first items of long lists, in order", () => {
    const many = Array.from({ length: 40 }, (_, at) =>
      createScheduleKeys(`s.n${at}`, {}, { runAt: NOW + ((at * 7) % 40) }),
    ).flat();
    const times = build(many).next.map(({ at }) => at - NOW);
    expect(times).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });
});

describe.each([
  ["Unicode", UNICODE_DRAWING],
  ["ASCII", ASCII_DRAWING],
])("its drawing in %s", (name, signs) => {
  it.each([40, 80, 119, 120, 200])("fits %d columns", (width) => {
    for (const kvs of [SITE, []]) {
      const overview = build(kvs, countGraphValues(width, signs));
      const drawing = drawOverview(overview, { width, signs, wall: NOW });
      for (const line of drawing) expect(measureSpans(line), toText([line])).toBeLessThanOrEqual(width);
      expect(toText(drawing)).not.toContain("\u001b");
      if (name === "ASCII") expect(toText(drawing)).toMatch(/^[\x20-\x7e\n…]*$/);
    }
  });

  it.each([20, 24, 32, 50])("fills at most %d lines", (rows) => {
    const overview = build(SITE, countGraphValues(79, signs));
    expect(drawOverview(overview, { width: 79, signs, wall: NOW }, rows).length).toBeLessThanOrEqual(rows);
  });
});

it("is drawn as a picture", () => {
  const overview = build(SITE, countGraphValues(80, UNICODE_DRAWING));
  const text = toText(drawOverview(overview, { width: 80, signs: UNICODE_DRAWING, wall: NOW }));
  expect(text).toContain("● 1 held");
  expect(text).toContain("web1 █████░ cpu 3/4");
  expect(text).toContain("web2 ╳╳╳╳╳╳ drained");
  expect(text).toContain("old  ······ silent");
  expect(text).toMatch(/^x +▅+█ 2 +2h +soon\.one +no-worker +in 5s$/m);
  expect(text).toMatch(/^lock export on web1: timeout +exit 3 +30s ago$/m);
  expect(text).toMatch(/^ +1 │ +⣿$/m);
  expect(text).toContain("▲ etcd 2/3 members · leader m1 · version 3.6.4 · 3 ms");
});

it("shows the shortest time that has all runs", () => {
  const getSpan = (enqueuedAt: number) => {
    const { activity } = build([createTicketKey("lock x", "a", 1, { host: WEB, enqueuedAt })]);
    return activity.until - activity.from;
  };
  // Times are shown in steps, so a run can have begun after the time that is shown.
  expect(
    [-500, 10_000, 6 * 60_000, 50 * 60_000, 7_200_000].map((age) => getSpan(NOW - age) / 60_000),
  ).toEqual([5, 5, 10, 60, 60]);
  expect(build([]).activity.from).toBe(NOW - 3_600_000);
});

it("shows in a queue's trend when its waiters came", () => {
  const wait = (run: string, revision: number, age: number) =>
    createTicketKey("lock x", run, revision, { host: WEB, enqueuedAt: NOW - age });
  const [queue] = build([wait("a", 1, 290_000), wait("b", 2, 125_000), wait("c", 3, 1_000)]).queues;
  expect(queue?.trend.map(Math.round)).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 3]);
});

it.each([
  [3_400, 0, "accent"],
  [99, 90, "problem"],
] as const)("shows how near etcd is to its limits: %d MB, %d ms", (used, ms, tone) => {
  const load = {
    database: { used: used * 1_048_576, total: 100 * 1_048_576 * (tone === "accent" ? 100 : 1) },
    lag: 0,
  };
  const overview = buildOverview(createSnapshot([]), NOW, { etcd: { ...ETCD, ms, load } });
  const line = drawOverview(overview, { width: 160, signs: UNICODE_DRAWING, wall: NOW }).at(-1) ?? [];
  expect(toText([line])).toMatch(/quota █+░* [\d.]+ [GM]iB of .* raft lag ░+ < 100 +latency .* ms$/);
  expect(line.filter(({ text }) => text.startsWith("█")).map(({ role }) => role)).toContain(tone);
});

it("says that etcd does not answer", () => {
  const etcd = { kind: "silence", since: NOW - 5_000, error: new Error("connection refused") } as const;
  const overview = buildOverview(createSnapshot([]), NOW, { etcd });
  const text = toText(drawOverview(overview, { width: 80, signs: ASCII_DRAWING, wall: NOW }));
  expect(text).toContain("! etcd has not answered for 5s: connection refused");
  expect(text).toContain("none recorded");
});

describe("hosts", () => {
  const load = (at: number) => ({
    host: `node${at}.example.com`,
    state: "busy" as const,
    isDrained: false,
    held: 1,
    waiting: 0,
    fullest: { name: "", short: "cpu", used: at % 9, total: 8, waiting: 0 },
  });
  const draw = (count: number, width: number) =>
    drawHosts(
      { hosts: Array.from({ length: count }, (_, at) => load(at)) },
      { width, signs: ASCII_DRAWING, wall: NOW },
    );

  it("have bars while there is room, then names, then one character each", () => {
    expect(toText(draw(4, 80))).toContain("node3 ##.... cpu 3/8");
    expect(toText(draw(24, 80))).toMatch(/^_ node0 {3}. node1 /m);
    expect(toText(draw(200, 80))).toMatch(/^[_.\-=+*%#]{10} [_.\-=+*%#]{10} /m);
    expect(toText(draw(5_000, 80))).toMatch(/^and \d+ more$/m);
    for (const count of [4, 24, 200, 5_000]) expect(draw(count, 80).length).toBeLessThanOrEqual(5);
  });

  it("are coloured by load", () => {
    const tones = new Set<Tone | "heading" | undefined>(
      draw(200, 80)
        .flat()
        .map(({ role }) => role),
    );
    expect(
      [...tones].filter((tone) => tone !== "heading" && tone !== undefined && tone !== "quiet").sort(),
    ).toEqual(["free", "held", "waiting"]);
  });
});
