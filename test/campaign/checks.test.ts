/** Each check of the campaign detects its violation, and reports nothing without one. */
import { describe, expect, test } from "vitest";
import { hasPassed, judgeFacts } from "../../fixtures/campaign/check/index.ts";
import type { Ending, RunWay } from "../../fixtures/campaign/facts.ts";
import { buildCampaignReport, countFacts } from "../../fixtures/campaign/report.ts";
import { keyOf, makeChange, makeClaim, makeFacts, makeLife, makeOrder } from "./samples.ts";

/** Returns the violations of the checks that found some. */
function find(facts: Parameters<typeof makeFacts>[0]): Record<string, readonly string[]> {
  const { checks } = judgeFacts(makeFacts(facts));
  return Object.fromEntries(Object.entries(checks).filter(([, found]) => found.length > 0));
}

describe("holders of one lock", () => {
  test("one after the other are fine", () => {
    expect(find({ claims: [makeClaim("x", 0, 10, 1), makeClaim("y", 11, 20, 2)] })).toEqual({});
  });

  test("two at a time are found, by a child that outlives its first process", () => {
    const child = makeLife(2, 15, { role: "bare", pid: 9 });
    const claims = [makeClaim("x", 0, 10, 1, { lives: [makeLife(0, 10), child] }), makeClaim("y", 11, 20, 2)];
    expect(find({ claims })).toEqual({
      "no two holders": [
        expect.stringContaining("y (h1, run runy, token 2) began 4 ms before process 9 (bare) of x"),
      ],
      "every history is possible": [expect.stringContaining("lock a: no order explains acquire of 1 by y")],
    });
  });

  test("one that outlives several is found with each of them", () => {
    const claims = [makeClaim("x", 0, 50, 1), makeClaim("y", 11, 20, 2), makeClaim("z", 21, 30, 3)];
    expect(find({ claims })["no two holders"]).toHaveLength(2);
  });

  test("of different locks may live together", () => {
    const other = makeClaim("y", 5, 20, 2, { order: makeOrder("y", { locks: ["b"] }) });
    expect(find({ claims: [makeClaim("x", 0, 10, 1), other] })).toEqual({});
  });

  const sharing = (name: string, birth: number, last: number, token: number) =>
    makeClaim(name, birth, last, token, { order: makeOrder(name, { locks: ["a"], isShared: true }) });

  test("that share it may live together, and get their tokens in any order", () => {
    const readers = [sharing("x", 0, 30, 3), sharing("y", 5, 20, 2), sharing("z", 25, 28, 4)];
    expect(find({ claims: [...readers, makeClaim("w", 31, 40, 5)] })).toEqual({});
  });

  test("that share it are found beside one that does not, whoever is first", () => {
    const readers = [sharing("x", 0, 30, 1), sharing("y", 5, 20, 2)];
    expect(find({ claims: [...readers, makeClaim("w", 25, 40, 3)] })["no two holders"]).toHaveLength(1);
    expect(
      find({ claims: [makeClaim("w", 0, 10, 1), sharing("x", 9, 30, 2)] })["no two holders"],
    ).toHaveLength(1);
  });

  test("that share it, after one that does not, with a smaller token are found", () => {
    const claims = [makeClaim("w", 0, 10, 5), sharing("x", 11, 20, 4)];
    expect(find({ claims })).toEqual({ "every history is possible": [expect.stringContaining("token 4")] });
  });

  test("with a token that does not grow are found", () => {
    for (const token of [5, 4]) {
      const claims = [makeClaim("x", 0, 10, 5), makeClaim("y", 11, 20, token)];
      expect(find({ claims })).toEqual({
        "every history is possible": [expect.stringContaining(`token ${token}`)],
      });
    }
  });
});

describe("units", () => {
  const using = (name: string, birth: number, last: number, db: number) =>
    makeClaim(name, birth, last, 1, { order: makeOrder(name, { units: { db } }) });

  test.each([
    { total: 3, found: 0 },
    { total: 2, found: 1 },
  ])("3 in use of $total", ({ total, found }) => {
    const claims = [using("x", 0, 10, 2), using("y", 5, 15, 1), using("z", 16, 20, 2)];
    expect(find({ claims, totals: { db: total } })["every history is possible"] ?? []).toHaveLength(found);
  });
});

describe("what outlives its claim", () => {
  test("a process that lived when its ticket was gone", () => {
    const claims = [makeClaim("x", 0, 100, 1)];
    expect(find({ claims, changes: [makeChange("x", 1, "held"), makeChange("x", 100, "gone")] })).toEqual({});
    expect(find({ claims, changes: [makeChange("x", 1, "held"), makeChange("x", 99, "gone")] })).toEqual({
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
    expect(find({ claims: [makeClaim("x", 5, 60, 4)], changes })).toHaveProperty([
      "nothing outlives its claim",
    ]);
  });
});

describe("occurrences of a schedule", () => {
  const order = makeOrder("long", { tool: "worker", host: "workers" });
  const task = (name: string, birth: number, last: number, token: number) =>
    makeClaim(name, birth, last, token, { order });
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
  const added = due(1, { open: [{ ...open, attempt: 0 }] });
  const lost = [added, ...claim("x", 2, 1), lose("x", 30, 2)];

  test("that runs again after its first worker is fine", () => {
    const changes = [...lost, ...claim("y", 40, 2), ...succeed("y", 60, 40)];
    expect(find({ claims: [task("x", 5, 20, 2), task("y", 41, 50, 40)], changes })).toEqual({});
  });

  test.each([
    [
      "that runs twice at a time",
      [...lost, ...claim("y", 40, 2)],
      [task("x", 5, 45, 2), task("y", 41, 50, 40)],
    ],
    ["with a gap between its attempts", [...lost, ...claim("y", 40, 3)], [task("x", 5, 20, 2)]],
    ["that is lost", [...lost, due(40, {})], [task("x", 5, 20, 2)]],
    ["whose task was never claimed", [added], [task("x", 5, 20, 2)]],
  ])("%s is found", (_, changes, claims) => {
    expect(find({ claims, changes })).toHaveProperty(["every occurrence runs as it should"]);
  });

  test("that runs on after a forced loss is admitted", () => {
    const changes = [...lost, ...claim("y", 40, 2)];
    const claims = [task("x", 5, 45, 2), task("y", 41, 50, 40)];
    expect(find({ claims, changes, forced: [{ at: 29, key }] })).toEqual({});
  });
});

describe("force", () => {
  const claims = [makeClaim("x", 0, 1_000, 1), makeClaim("y", 500, 2_000, 2)];
  const changes = [makeChange("x", 1, "held"), makeChange("x", 490, "gone")];

  test.each([{ key: keyOf("x") }, { session: 7n }])("admits an overlap that it has caused: %o", (what) => {
    const facts = makeFacts({ claims, changes, forced: [{ at: 480, ...what }] });
    const { checks, admitted } = judgeFacts(facts);
    expect(Object.values(checks).flat()).toEqual([]);
    expect(admitted).toBe(1);
  });

  test.each([{ key: keyOf("y") }, { session: 8n }])("on another claim admits nothing: %o", (what) => {
    const found = find({ claims, changes, forced: [{ at: 480, ...what }] });
    expect(Object.keys(found)).toEqual([
      "no two holders",
      "every history is possible",
      "nothing outlives its claim",
    ]);
  });

  test("on a session admits nothing for a run that used it long after the call", () => {
    const late = [makeChange("x", 8_000, "held"), makeChange("x", 8_400, "gone")];
    const later = [makeClaim("x", 8_000, 9_000, 1), makeClaim("y", 8_500, 9_500, 2)];
    const found = find({ claims: later, changes: late, forced: [{ at: 1_000, session: 7n }] });
    expect(Object.keys(found)).toEqual([
      "no two holders",
      "every history is possible",
      "nothing outlives its claim",
    ]);
  });

  test("that came later admits nothing", () => {
    expect(find({ claims, changes, forced: [{ at: 600, key: keyOf("x") }] })).toHaveProperty([
      "no two holders",
    ]);
  });

  test("is no excuse to live longer than the session", () => {
    const long = [makeClaim("x", 0, 5_000, 1)];
    expect(find({ claims: long, changes, forced: [{ at: 480, key: keyOf("x") }] })).toEqual({
      "nothing outlives its claim": [expect.stringContaining("lived 4510 ms after it was lost by force")],
    });
  });
});

describe("queues", () => {
  test("a grant in turn is fair, one before its turn is not", () => {
    const [x, y] = [makeChange("x", 1, "waiting"), makeChange("y", 2, "waiting")];
    const grant = (name: string, at: number) =>
      makeChange(name, at, "held", { createRevision: name === "x" ? 1n : 2n });
    const left = makeChange("x", 3, "gone", { createRevision: 1n });
    expect(find({ changes: [x, y, grant("x", 3)] })).toEqual({});
    expect(find({ changes: [x, y, left, grant("y", 4)] })).toEqual({});
    expect(find({ changes: [x, y, grant("y", 3)] })).toEqual({
      "every queue is fair": [
        expect.stringContaining("runy was granted at revision 3 with 1 ahead of it: 2 of 1"),
      ],
    });
  });

  test("of a lock that some share: beside them, but not past one that does not", () => {
    const [reader, writer] = [{ shared: true }, {}];
    const x = makeChange("x", 1, "held", reader);
    const y = makeChange("y", 2, "waiting", writer);
    const grantOf = (name: string, more: object, created: bigint) =>
      makeChange(name, 9, "held", { ...more, createRevision: created });
    expect(find({ changes: [x, grantOf("z", reader, 3n)] })).toEqual({});
    for (const changes of [
      [x, y, grantOf("z", reader, 3n)],
      [x, grantOf("y", writer, 2n)],
    ])
      expect(find({ changes })).toHaveProperty(["every queue is fair"]);
  });

  test("of a resource: a small claim does not overtake a large one", () => {
    const of = (name: string, at: number, state: string, count: number, created = at) =>
      makeChange(name, at, state, {
        key: keyOf(name, "resources/db"),
        count,
        createRevision: BigInt(created),
      });
    const before = [of("x", 1, "held", 2), of("y", 2, "waiting", 2), of("z", 3, "waiting", 1)];
    const totals = { db: 3 };
    expect(find({ changes: [...before, of("z", 4, "held", 1, 3)], totals })).toHaveProperty([
      "every queue is fair",
    ]);
    const after = [of("x", 4, "gone", 2, 1), of("z", 5, "held", 1, 3), of("y", 6, "held", 2, 2)];
    expect(find({ changes: [...before, ...after], totals })).toEqual({});
  });
});

describe("tickets", () => {
  const ending: Ending = {
    order: makeOrder("x"),
    pid: 5,
    started: 0,
    ended: 1_000,
    code: 0,
    signals: [],
    stderr: "",
  };
  const value = JSON.stringify({ host: "h1", pid: 5, state: "held", count: 1 });
  const claimed = makeChange("x", 10, "held", { value });

  test.each([
    ["go within a minute after their run", [makeChange("x", 61_000, "gone")], [], []],
    ["that go later are found", [makeChange("x", 61_001, "gone")], [], ["x (h1) stood for 60.0 s"]],
    ["that never go are found", [makeChange("y", 90_000, "held")], [], ["x (h1) stood for 89.0 s"]],
    [
      "go within a minute after the last change of the leader",
      [makeChange("x", 90_000, "gone")],
      [31_000],
      [],
    ],
    [
      "that go later than that are found",
      [makeChange("x", 90_001, "gone")],
      [500, 20_000, 30_000, 90_002],
      ["x (h1) stood for 89.0 s"],
    ],
  ])("%s", (_, later, elections, says) => {
    const found = find({ changes: [claimed, ...later], elections, endings: [{ ...ending, code: 125 }] });
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
  const ended = (code: number, more: Partial<Ending> = {}): Ending => ({
    order: makeOrder("x"),
    pid: 1,
    started: 0,
    ended: 20,
    code,
    signals: [],
    stderr: "",
    ...more,
  });
  const whole = makeClaim("x", 0, 10, 1);
  const cut = { ...whole, lives: [makeLife(0, 10, { hasEnded: false })] };

  test.each([
    ["the job's own", ended(0), [whole]],
    ["busy", ended(75), []],
    ["lost", ended(125), [cut]],
    ["a signal that was sent", ended(143, { signals: ["SIGTERM"] }), [cut]],
    ["killed", ended(137), [cut]],
  ])("%s is documented", (_, ending, claims) => {
    expect(find({ endings: [ending], claims })).toEqual({});
  });

  test.each([
    ["a defect", ended(70), [cut], "70, which is not documented"],
    ["fine, with a job that was ended", ended(0), [cut], "its job did not end by itself"],
    ["fine, without a job", ended(0), [], "its job did not end by itself"],
    ["busy, with a job that was started", ended(75), [cut], "was started"],
    ["a signal that nobody sent", ended(143), [cut], "nobody sent it SIGTERM"],
  ])("%s is found", (_, ending, claims, says) => {
    expect(find({ endings: [ending], claims })).toEqual({
      "every code is documented": [expect.stringContaining(says)],
    });
  });
});

describe("the verdict", () => {
  const twice = (tool: "etcdctl" | "etcd3") =>
    ["x", "y"].map((name, at) =>
      makeClaim(`${tool}${name}`, at * 5, 20, 1, {
        order: makeOrder(name, { tool, locks: [tool] }),
        token: undefined,
      }),
    );

  test("passes where all holds and both controls have failed", () => {
    expect(hasPassed(judgeFacts(makeFacts({ claims: [...twice("etcdctl"), ...twice("etcd3")] })))).toBe(true);
  });

  test("is in the JSON, with the plan and the figures", () => {
    const facts = makeFacts({ claims: [...twice("etcdctl"), ...twice("etcd3")] });
    const report = buildCampaignReport({ seed: 7, seconds: 9 }, countFacts(facts), judgeFacts(facts));
    expect(JSON.parse(JSON.stringify(report))).toMatchObject({ seed: 7, seconds: 9, passed: true, runs: 0 });
  });

  test("comes with the runs by way, and why some did without an agent", () => {
    const end = (way: RunWay, fallback?: string): Ending => ({
      order: makeOrder("x"),
      pid: 1,
      started: 0,
      ended: 1,
      code: 75,
      signals: [],
      stderr: "",
      way,
      fallback,
    });
    const endings = [end("classic"), end("served"), end("served"), end("fallen back", "no agent")];
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
