/** Each check of the campaign detects its violation, and reports nothing without one. */
import { describe, expect, test } from "vitest";
import { hasPassed, judgeFacts } from "../../fixtures/campaign/check/index.ts";
import type { Claim, KeyChange } from "../../fixtures/campaign/facts.ts";
import { buildCampaignReport, countFacts } from "../../fixtures/campaign/report.ts";
import { makeChange, makeEnding, makeFacts, makeLife, parseChanges, parseClaims, toKey } from "./samples.ts";

/** Returns the violations of the checks that found some. */
function find(facts: Parameters<typeof makeFacts>[0]): Record<string, readonly string[]> {
  const { checks } = judgeFacts(makeFacts(facts));
  return Object.fromEntries(Object.entries(checks).filter(([, found]) => found.length > 0));
}

describe("holders of one lock", () => {
  test("one after the other are fine", () => {
    expect(find({ claims: parseClaims("x from 0 to 10 token 1, y from 11 to 20 token 2") })).toEqual({});
  });

  test("two at a time are found, by a child that outlives its first process", () => {
    const [first, second] = parseClaims("x from 0 to 10 token 1, y from 11 to 20 token 2") as [Claim, Claim];
    const child = makeLife(2, 15, { role: "bare", pid: 9 });
    expect(find({ claims: [{ ...first, lives: [...first.lives, child] }, second] })).toEqual({
      "no two holders": [
        expect.stringContaining("y (h1, run runy, token 2) began 4 ms before process 9 (bare) of x"),
      ],
      "every history is possible": [expect.stringContaining("lock a: no order explains acquire of 1 by y")],
    });
  });

  test.each([
    [
      "one that outlives several",
      "x from 0 to 50 token 1, y from 11 to 20 token 2, z from 21 to 30 token 3",
      2,
    ],
    [
      "readers beside a writer that came later",
      "x from 0 to 30 token 1 shared, y from 5 to 20 token 2 shared, w from 25 to 40 token 3",
      1,
    ],
    [
      "one that shares it beside an earlier one that does not",
      "w from 0 to 10 token 1, x from 9 to 30 token 2 shared",
      1,
    ],
  ])("%s are found", (_, text, count) => {
    expect(find({ claims: parseClaims(text) })["no two holders"]).toHaveLength(count);
  });

  test("that share it may live together, and get their tokens in any order", () => {
    const text = "x from 0 to 30 token 3 shared, y from 5 to 20 token 2 shared, w from 31 to 40 token 5";
    expect(find({ claims: parseClaims(text) })).toEqual({});
  });

  test("of different locks may live together", () => {
    const other = parseClaims("y from 5 to 20 token 2", { locks: ["b"] });
    expect(find({ claims: [...parseClaims("x from 0 to 10 token 1"), ...other] })).toEqual({});
  });

  test("with a token that does not grow are found", () => {
    const claims = parseClaims("x from 0 to 10 token 5, y from 11 to 20 token 5");
    expect(find({ claims })).toEqual({ "every history is possible": [expect.stringContaining("token 5")] });
  });
});

test("more units than there are are found", () => {
  const claims = [2, 1].flatMap((db, at) =>
    parseClaims(`x${at} from ${at} to 15 token 1`, { locks: [], units: { db } }),
  );
  const judge = (db: number) => find({ claims, totals: { db } });
  expect(judge(3)).toEqual({});
  expect(judge(2)).toHaveProperty(["every history is possible"]);
});

describe("what outlives its claim", () => {
  test("a process that lived when its ticket was gone", () => {
    const claims = parseClaims("x from 0 to 100 token 1");
    expect(find({ claims, changes: parseChanges("x held 1, x gone 100") })).toEqual({});
    expect(find({ claims, changes: parseChanges("x held 1, x gone 99") })).toEqual({
      "nothing outlives its claim": [
        expect.stringContaining("lived 1 ms after /campaign/locks/a/runx was gone"),
      ],
    });
  });

  test("a task whose running key was gone", () => {
    const running = { key: "/campaign/running/s", value: '{"run":"runx"}', createRevision: 4n };
    const changes = [
      makeChange("x", 4, "held", running),
      makeChange("x", 50, "gone", { ...running, value: "" }),
    ];
    expect(find({ claims: parseClaims("x from 5 to 60 token 4"), changes })).toHaveProperty([
      "nothing outlives its claim",
    ]);
  });
});

describe("occurrences of a schedule", () => {
  const parseTasks = (text: string) =>
    parseClaims(text, { name: "long", tool: "worker", host: "workers", locks: [] });
  const due = (at: number, value: object) =>
    makeChange("", at, "held", {
      key: "/campaign/due/long",
      value: JSON.stringify({ v: 1, runAt: 0, ...value }),
    });
  const open = { scheduled: 1, runAt: 1, failures: 0, kind: "trigger" };
  const key = "/campaign/running/long";
  const claim = (name: string, at: number, attempt: number) => {
    const record = { v: 1, worker: "w", host: "h1", pid: 1, scheduled: 1, since: 1, late: 0 };
    const value = JSON.stringify({ ...record, run: `run${name}`, attempt });
    return [due(at, { open: [{ ...open, attempt }] }), makeChange(name, at, "held", { key, value })];
  };
  const lose = (name: string, at: number, created: number) =>
    makeChange(name, at, "gone", { key, createRevision: BigInt(created) });
  const succeed = (name: string, at: number, created: number) => [
    lose(name, at, created),
    due(at, { last: { scheduled: 1, startedAt: 1, endedAt: 1, late: 0, run: `run${name}`, result: "ok" } }),
  ];
  const OVERLAP = parseTasks("x from 5 to 45 token 2, y from 41 to 50 token 40");
  const added = due(1, { open: [{ ...open, attempt: 0 }] });
  const lost = [added, ...claim("x", 2, 1), lose("x", 30, 2)];

  test("that runs again after its first worker is fine", () => {
    const changes = [...lost, ...claim("y", 40, 2), ...succeed("y", 60, 40)];
    expect(find({ claims: parseTasks("x from 5 to 20 token 2, y from 41 to 50 token 40"), changes })).toEqual(
      {},
    );
  });

  test.each([
    ["that runs twice at a time", [...lost, ...claim("y", 40, 2)], OVERLAP],
    [
      "with a gap between its attempts",
      [...lost, ...claim("y", 40, 3)],
      parseTasks("x from 5 to 20 token 2"),
    ],
    ["that is lost", [...lost, due(40, {})], parseTasks("x from 5 to 20 token 2")],
    ["whose task was never claimed", [added], parseTasks("x from 5 to 20 token 2")],
  ])("%s is found", (_, changes, claims) => {
    expect(find({ claims, changes })).toHaveProperty(["every occurrence runs as it should"]);
  });

  test("that runs on after a forced loss is admitted", () => {
    const changes = [...lost, ...claim("y", 40, 2)];
    expect(find({ claims: OVERLAP, changes, forced: [{ at: 29, key }] })).toEqual({});
  });
});

describe("force", () => {
  const claims = parseClaims("x from 0 to 1000 token 1, y from 500 to 2000 token 2");
  const changes = parseChanges("x held 1, x gone 490");
  const ALL = ["no two holders", "every history is possible", "nothing outlives its claim"];

  test.each([{ key: toKey("x") }, { session: 7n }])("admits an overlap that it has caused: %o", (what) => {
    const facts = makeFacts({ claims, changes, forced: [{ at: 480, ...what }] });
    const { checks, admitted } = judgeFacts(facts);
    expect(Object.values(checks).flat()).toEqual([]);
    expect(admitted).toBe(1);
  });

  test.each([{ key: toKey("y") }, { session: 8n }])("on another claim admits nothing: %o", (what) => {
    expect(Object.keys(find({ claims, changes, forced: [{ at: 480, ...what }] }))).toEqual(ALL);
  });

  test("on a session admits nothing for a run that used it long after the call", () => {
    const found = find({
      claims: parseClaims("x from 8000 to 9000 token 1, y from 8500 to 9500 token 2"),
      changes: parseChanges("x held 8000, x gone 8400"),
      forced: [{ at: 1_000, session: 7n }],
    });
    expect(Object.keys(found)).toEqual(ALL);
  });

  test("that came later admits nothing", () => {
    expect(find({ claims, changes, forced: [{ at: 600, key: toKey("x") }] })).toHaveProperty([
      "no two holders",
    ]);
  });

  test("is no excuse to live longer than the session", () => {
    expect(
      find({
        claims: parseClaims("x from 0 to 5000 token 1"),
        changes,
        forced: [{ at: 480, key: toKey("x") }],
      }),
    ).toEqual({
      "nothing outlives its claim": [expect.stringContaining("lived 4510 ms after it was lost by force")],
    });
  });
});

describe("queues", () => {
  test.each([
    ["a grant in turn", "x waiting 1, y waiting 2, x held 3 since 1"],
    ["a grant after the end of the first", "x waiting 1, y waiting 2, x gone 3 since 1, y held 4 since 2"],
  ])("%s is fair", (_, text) => {
    expect(find({ changes: parseChanges(text) })).toEqual({});
  });

  test("a grant before its turn is not", () => {
    expect(find({ changes: parseChanges("x waiting 1, y waiting 2, y held 3 since 2") })).toEqual({
      "every queue is fair": [
        expect.stringContaining("runy was granted at revision 3 with 1 ahead of it: 2 of 1"),
      ],
    });
  });

  test("of a lock that some share: beside them, but not past one that does not", () => {
    const [x, z] = ["x held 1", "z held 9 since 3"].flatMap((text) => parseChanges(text, { shared: true }));
    const [y, writer] = parseChanges("y waiting 2, y held 9 since 2");
    const isFair = (...changes: (KeyChange | undefined)[]) =>
      find({ changes: changes.filter((one) => one !== undefined) })["every queue is fair"] === undefined;
    expect([isFair(x, z), isFair(x, y, z), isFair(x, writer)]).toEqual([true, false, false]);
  });

  test("of a resource: a small claim does not overtake a large one", () => {
    const parse = (name: string, count: number, text: string) =>
      parseChanges(text, { key: toKey(name, "resources/db"), count });
    const before = [
      ...parse("x", 2, "x held 1"),
      ...parse("y", 2, "y waiting 2"),
      ...parse("z", 1, "z waiting 3"),
    ];
    const totals = { db: 3 };
    expect(find({ changes: [...before, ...parse("z", 1, "z held 4 since 3")], totals })).toHaveProperty([
      "every queue is fair",
    ]);
    const after = [
      ...parse("x", 2, "x gone 4 since 1"),
      ...parse("z", 1, "z held 5 since 3"),
      ...parse("y", 2, "y held 6 since 2"),
    ];
    expect(find({ changes: [...before, ...after], totals })).toEqual({});
  });
});

describe("tickets", () => {
  const value = JSON.stringify({ host: "h1", pid: 5, state: "held", count: 1 });
  const claimed = makeChange("x", 10, "held", { value });

  test.each([
    ["go within a minute after their run", "x gone 61000", [], []],
    ["that go later are found", "x gone 61001", [], ["x (h1) stood for 60.0 s"]],
    ["that never go are found", "y held 90000", [], ["x (h1) stood for 89.0 s"]],
    ["go within a minute after the last change of the leader", "x gone 90000", [31_000], []],
    [
      "that go later than that are found",
      "x gone 90001",
      [500, 20_000, 30_000, 90_002],
      ["x (h1) stood for 89.0 s"],
    ],
  ])("%s", (_, later, elections, says) => {
    const found = find({ changes: [claimed, ...parseChanges(later)], elections, endings: [makeEnding(125)] });
    expect(found["tickets go with their runs"] ?? []).toEqual(
      says.map((one) => expect.stringContaining(one)),
    );
  });
});

describe("a lock's history", () => {
  const write = (at: number, ...runs: string[]) =>
    makeChange("x", at, "held", {
      key: "/campaign/history/a",
      value: JSON.stringify({ runs: runs.map((run) => ({ run })) }),
    });

  test.each([
    ["of runs in a row is fine", [write(1, "x"), write(2, "y", "x"), write(3, "z", "y")], []],
    [
      "with a run twice is found",
      [write(1, "x"), write(2, "x", "x")],
      ["run x was added again at revision 2"],
    ],
    [
      "to which a run is added again is found",
      [write(1, "x"), write(2, "y"), write(3, "x", "y")],
      ["run x was added again at revision 3"],
    ],
  ])("%s", (_, changes, says) => {
    const found = find({ changes })["history once per run"] ?? [];
    expect(found).toEqual(says.map((one) => expect.stringContaining(one)));
  });
});

describe("exit codes", () => {
  const [whole] = parseClaims("x from 0 to 10 token 1") as [Claim];
  const cut = { ...whole, lives: [makeLife(0, 10, { hasEnded: false })] };

  test.each([
    ["the job's own", makeEnding(0), [whole]],
    ["busy", makeEnding(75), []],
    ["lost", makeEnding(125), [cut]],
    ["a signal that was sent", makeEnding(143, { signals: ["SIGTERM"] }), [cut]],
    ["killed", makeEnding(137), [cut]],
  ])("%s is documented", (_, ending, claims) => {
    expect(find({ endings: [ending], claims })).toEqual({});
  });

  test.each([
    ["a defect", makeEnding(70), [cut], "70, which is not documented"],
    ["fine, with a job that was ended", makeEnding(0), [cut], "its job did not end by itself"],
    ["fine, without a job", makeEnding(0), [], "its job did not end by itself"],
    ["busy, with a job that was started", makeEnding(75), [cut], "was started"],
    ["a signal that nobody sent", makeEnding(143), [cut], "nobody sent it SIGTERM"],
  ])("%s is found", (_, ending, claims, says) => {
    expect(find({ endings: [ending], claims })).toEqual({
      "every code is documented": [expect.stringContaining(says)],
    });
  });
});

describe("the verdict", () => {
  const twice = (tool: "etcdctl" | "etcd3") =>
    parseClaims(`${tool}x from 0 to 20, ${tool}y from 5 to 20`, { tool, locks: [tool] }).map((claim) => ({
      ...claim,
      token: undefined,
    }));

  test("passes where all holds and both controls have failed", () => {
    expect(hasPassed(judgeFacts(makeFacts({ claims: [...twice("etcdctl"), ...twice("etcd3")] })))).toBe(true);
  });

  test("is in the JSON, with the plan and the figures", () => {
    const facts = makeFacts({ claims: [...twice("etcdctl"), ...twice("etcd3")] });
    const report = buildCampaignReport({ seed: 7, seconds: 9 }, countFacts(facts), judgeFacts(facts));
    expect(JSON.parse(JSON.stringify(report))).toMatchObject({ seed: 7, seconds: 9, passed: true, runs: 0 });
  });

  test("comes with the runs by way, and why some did without an agent", () => {
    const endings = (["classic", "served", "served"] as const).map((way) => makeEnding(75, { way }));
    endings.push(makeEnding(75, { way: "fallen back", fallback: "no agent" }));
    const own = { key: "/campaign/hosts/h1/sessions/7", createRevision: 4n };
    const changes = [makeChange("x", 4, "held", own), makeChange("x", 9, "held", own)];
    expect(countFacts(makeFacts({ endings, changes }))).toMatchObject({
      takeovers: 1,
      runsByWay: { classic: 1, served: 2, "fallen back": 1 },
      fallbacks: { "no agent": 1 },
    });
  });

  test("does not where a control has held, or something was left", () => {
    expect(hasPassed(judgeFacts(makeFacts({ claims: twice("etcdctl") })))).toBe(false);
    const claims = [...twice("etcdctl"), ...twice("etcd3")];
    expect(hasPassed(judgeFacts(makeFacts({ claims, complaints: ["a process is left"] })))).toBe(false);
  });
});
