/** Operations on schedules: each is one guarded transaction with its audit record, or nothing. */
import { describe, expect } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { type Definition, formatDefinition, parseDefinition } from "../../../src/schedule/definition.ts";
import { AlreadyExistsError, NotFoundError } from "../../../src/schedule/errors.ts";
import { type DueState, formatDue } from "../../../src/schedule/state/due.ts";
import { formatOutcomes } from "../../../src/schedule/state/outcome.ts";
import { buildImportMutation } from "../../../src/site/operate/import-schedules.ts";
import {
  buildAddMutation,
  buildBuryMutation,
  buildDeleteMutation,
  buildModifyMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildTriggerMutation,
} from "../../../src/site/operate/schedule-mutations.ts";
import { OperatorFixture, test } from "./operator-fixture.ts";

const HOUR = 3_600_000;
/** The operator. */
const BY = "ann@ops.example.com";
const HOURLY: Definition = { cron: "0 * * * *", timezone: "UTC", command: ["true"] };

async function readDefinition(operator: OperatorFixture, id: string): Promise<Definition | undefined> {
  const parsed = parseDefinition((await operator.readValue(keys.schedule(id))) ?? "");
  return "value" in parsed ? parsed.value : undefined;
}

const listRecords = async (operator: OperatorFixture) =>
  (await operator.listRecords()).map((one) => `${one?.action} ${one?.target}: ${one?.outcome}`);

async function createFixture(...ids: string[]) {
  const operator = new OperatorFixture();
  await operator.clock.advance(HOUR / 2); // nothing is due yet
  for (const id of ids) await operator.apply(buildAddMutation(id, HOURLY));
  return operator;
}

describe("add", () => {
  test("writes definition and state with its record", async () => {
    const operator = await createFixture("a");
    const now = operator.clock.getWallTime();
    expect(await readDefinition(operator, "a")).toEqual(HOURLY);
    const next = Math.ceil(now / HOUR) * HOUR;
    expect(await operator.readDue("a")).toEqual({ next, runAt: next, open: [] });
    expect(await listRecords(operator)).toEqual(["schedule schedule a: added"]);
  });

  test("refuses an id that is taken, and changes nothing", async () => {
    const operator = await createFixture("a");
    const other = { ...HOURLY, cron: "1 * * * *" };
    await expect(operator.apply(buildAddMutation("a", other))).rejects.toThrow(AlreadyExistsError);
    await expect(operator.apply(buildAddMutation("a", other))).rejects.toThrow(
      /with: signalbox schedule edit a$/,
    );
    expect(await readDefinition(operator, "a")).toEqual(HOURLY);
    expect(await listRecords(operator)).toHaveLength(1);
  });

  test.each([
    ["a name", "", HOURLY],
    ["a cron text", "a", { ...HOURLY, cron: "61 * * * *" }],
    ["a zone", "a", { ...HOURLY, timezone: "Nowhere" }],
    ["a field", "a", { ...HOURLY, retries: -1 }],
  ])("refuses %s that cannot be used", async (_, id, definition) => {
    const operator = new OperatorFixture();
    await expect((async () => operator.apply(buildAddMutation(id, definition)))()).rejects.toThrow(
      /used|minute|zone|retries/,
    );
    expect((await operator.store.readRange(keys.getFullRange())).kvs).toEqual([]);
  });

  test("has start and at as PerfectSched has them", async ({ operator }) => {
    const start = Date.UTC(2030, 0, 1, 0, 30);
    await operator.apply(buildAddMutation("a", HOURLY, { start, at: start - 5 }));
    expect(await operator.readDue("a")).toEqual({
      next: Date.UTC(2030, 0, 1, 1),
      runAt: start - 5,
      open: [],
    });
  });
});

describe("modify", () => {
  test("of one that is not there is an error of its own", async () => {
    const operator = await createFixture("a");
    await expect(operator.apply(buildModifyMutation(["b"], () => HOURLY))).rejects.toThrow(NotFoundError);
  });

  test("that changes nothing writes nothing", async () => {
    const operator = await createFixture("a");
    const { timezone, cron, command = [] } = HOURLY;
    const done = await operator.apply(buildModifyMutation(["a"], () => ({ timezone, command, cron })));
    expect(done.kind).toBe("nothing");
    expect(await listRecords(operator)).toHaveLength(1);
  });

  test("is decided anew when a worker moves the schedule on meanwhile", async () => {
    const operator = await createFixture("a");
    let calls = 0;
    const moved: DueState = { next: 4_000_000 * HOUR, runAt: 4_000_000 * HOUR, open: [] };
    const done = await operator.apply(
      buildModifyMutation(["a"], (before) => {
        calls += 1;
        if (calls === 1) void operator.put(keys.due("a"), formatDue(moved));
        return { ...HOURLY, ...before, delay: 1_000 };
      }),
    );
    expect(done.kind).toBe("done");
    expect(calls).toBe(2);
    expect(await operator.readDue("a")).toEqual({ ...moved, runAt: moved.runAt + 1_000 });
  });

  test("moves it to a start, and ends it where nothing follows", async () => {
    const operator = await createFixture("a");
    const start = 1_000 * HOUR;
    await operator.apply(buildModifyMutation(["a"], () => HOURLY, { start }));
    expect(await operator.readDue("a")).toEqual({ next: start, runAt: start, open: [] });
    await operator.apply(buildModifyMutation(["a"], () => ({ ...HOURLY, end: start - 1 }), { start }));
    expect(await operator.readDue("a")).toEqual({ runAt: 0, open: [] });
  });

  test("stops when the definition is newer than what was seen", async () => {
    const operator = await createFixture("a");
    const seen = (await operator.store.readRange(keys.schedules())).revision;
    await operator.apply(buildModifyMutation(["a"], () => ({ ...HOURLY, note: "theirs" })));
    const mine = await operator.apply(
      buildModifyMutation(["a"], () => ({ ...HOURLY, note: "mine" })),
      { seen },
    );
    expect(mine).toMatchObject({ kind: "changed", ids: ["a"] });
    expect((await readDefinition(operator, "a"))?.note).toBe("theirs");
  });

  test("puts right what cannot be read", async () => {
    const operator = await createFixture("a");
    await operator.put(keys.schedule("a"), "{rubbish");
    await operator.apply(buildModifyMutation(["a"], (before) => before ?? HOURLY));
    expect(await readDefinition(operator, "a")).toEqual(HOURLY);
  });
});

describe("pause and resume", () => {
  test("keep who, why and until when; what was stopped is not made up for", async () => {
    const operator = await createFixture("a");
    const now = operator.clock.getWallTime();
    await operator.apply(buildPauseMutation(["a"], { by: BY, why: "disk full", until: now + 9 * HOUR }));
    const pause = { by: BY, at: now, until: now + 9 * HOUR, why: "disk full" };
    expect((await readDefinition(operator, "a"))?.pause).toEqual(pause);
    await operator.clock.advance(5 * HOUR);
    await operator.apply(buildResumeMutation(["a"]));
    expect(await readDefinition(operator, "a")).toEqual(HOURLY);
    expect((await operator.readDue("a")).next).toBeGreaterThanOrEqual(operator.clock.getWallTime());
    expect((await operator.apply(buildResumeMutation(["a"]))).kind).toBe("nothing");
  });

  test("end a pause that the schedule has set itself, and leave its definition alone", async () => {
    const operator = await createFixture("a", "b");
    const now = operator.clock.getWallTime();
    const pause = { by: "signalbox", at: now, why: "after 3 failures" };
    for (const id of ["a", "b"]) {
      const due = await operator.readDue(id);
      await operator.put(keys.due(id), formatDue({ ...due, runAt: 0, open: [], failed: 3, pause }));
    }
    await operator.apply(buildResumeMutation(["a"]));
    expect(await readDefinition(operator, "a")).toEqual(HOURLY);
    const resumed = await operator.readDue("a");
    expect([resumed.pause, resumed.failed]).toEqual([undefined, undefined]);
    await operator.apply(buildPauseMutation(["b"], { by: BY, until: now + HOUR }));
    expect((await readDefinition(operator, "b"))?.pause).toMatchObject({ until: now + HOUR, at: now });
    expect(
      (await operator.readDue("b")).pause,
      "it has no end, and would hide the other one",
    ).toBeUndefined();
    expect(await listRecords(operator)).toContain("schedule schedule a: resumed");
  });

  test("refuses a pause that is over", async () => {
    const operator = await createFixture("a");
    await expect(
      operator.apply(buildPauseMutation(["a"], { by: BY, until: operator.clock.getWallTime() })),
    ).rejects.toThrow("must end in the future");
  });
});

describe("trigger", () => {
  test("opens one run more, and of each that is named only one", async () => {
    const operator = await createFixture("a", "b");
    const now = operator.clock.getWallTime();
    const done = await operator.apply(buildTriggerMutation(["a", "b", "a"]));
    expect(done).toMatchObject({ kind: "done", changes: [{}, {}] });
    const open = [{ scheduled: now, runAt: now, attempt: 0, failures: 0, kind: "trigger" }];
    expect(await operator.readDue("a")).toMatchObject({ open });
    expect(await operator.readDue("b")).toMatchObject({ open });
    expect(await listRecords(operator)).toContain("schedule schedules a, b: triggered: 2");
  });

  test("takes all dead letters off the list at once, and runs each once with its own time and input", async () => {
    const operator = await createFixture("a");
    const letter = { scheduled: 7 * HOUR, result: "failed" as const, endedAt: 8 * HOUR };
    const dead = [letter, letter, { ...letter, scheduled: 6 * HOUR, data: { day: 6 } }];
    await operator.put(keys.outcomes("a"), formatOutcomes({ runs: [letter], dead }));
    await operator.apply(buildTriggerMutation(["a"], { dead: ["all"] }));
    const due = await operator.readDue("a");
    expect(due.open.map(({ scheduled, data }) => [scheduled, data])).toEqual([
      [7 * HOUR, undefined],
      [6 * HOUR, { day: 6 }],
    ]);
    expect(due.dead).toBeUndefined();
    expect(await operator.readOutcomes("a")).toEqual({
      runs: [letter],
      dead: [],
    });
    expect((await listRecords(operator)).join()).toContain("triggered again: all dead letters");
    await expect(operator.apply(buildTriggerMutation(["a"], { dead: ["all"] }))).rejects.toThrow(
      "has no dead letters",
    );
  });

  test("forgets dead letters, and keeps the rest of what is remembered", async () => {
    const operator = await createFixture("a", "b");
    const letter = { scheduled: 7 * HOUR, result: "failed" as const, endedAt: 8 * HOUR };
    await operator.put(keys.outcomes("a"), formatOutcomes({ runs: [letter], dead: [letter, letter] }));
    expect(await operator.apply(buildBuryMutation(["a", "b"]))).toMatchObject({
      kind: "done",
      changes: [{}],
    });
    expect(await operator.readOutcomes("a")).toEqual({
      runs: [letter],
      dead: [],
    });
    expect((await operator.readDue("a")).dead).toBeUndefined();
    expect((await listRecords(operator)).join()).toContain("dead letters forgotten");
  });

  test("runs none of the dead letters that are chosen if one is not there", async () => {
    const operator = await createFixture("a");
    const letter = { scheduled: 5 * HOUR, result: "failed" as const, endedAt: 8 * HOUR };
    await operator.put(keys.outcomes("a"), formatOutcomes({ runs: [], dead: [letter] }));
    await expect(operator.apply(buildTriggerMutation(["a"], { dead: [5 * HOUR, 9 * HOUR] }))).rejects.toThrow(
      "no dead letter of 1970-01-01T09:00:00.000Z",
    );
    expect((await operator.readOutcomes("a")).dead).toEqual([letter]);
  });

  test("of several is refused as a whole where one is not there", async () => {
    const operator = await createFixture("a");
    await expect(operator.apply(buildTriggerMutation(["a", "z"]))).rejects.toThrow('no schedule "z"');
    expect((await operator.readDue("a")).open).toEqual([]);
  });

  test("refuses when a hundred wait already", async () => {
    const operator = await createFixture("a");
    for (let times = 0; times < 100; times += 1) await operator.apply(buildTriggerMutation(["a"]));
    await expect(operator.apply(buildTriggerMutation(["a"]))).rejects.toThrow("100 runs");
  });
});

test("delete takes away definition, state and memory", async () => {
  const operator = await createFixture("a", "b");
  await operator.put(keys.outcomes("a"), formatOutcomes({ runs: [], dead: [] }));
  await operator.apply(buildDeleteMutation(["a"]));
  const left = (await operator.store.readRange(keys.getFullRange())).kvs.map(({ key }) => key);
  expect(left.filter((key) => !key.startsWith(keys.audits().key))).toEqual([
    keys.due("b"),
    keys.schedule("b"),
  ]);
  await expect(operator.apply(buildDeleteMutation(["a"]))).rejects.toThrow(NotFoundError);
});

describe("an import", () => {
  const buildManyDefinitions = (count: number, cron = "0 * * * *", source = "crontab:x") =>
    new Map(Array.from({ length: count }, (_, at) => [`s${at}`, { ...HOURLY, cron, source }] as const));
  const buildImport = (definitions: ReadonlyMap<string, Definition>, prunes = false) => ({
    target: "crontab x",
    definitions,
    source: "crontab:x",
    prunes,
  });

  test.each([3, 59, 1_000])(
    "of %i makes, changes and prunes them, each in one transaction",
    async (count) => {
      const operator = await createFixture("mine");
      const { revision } = await operator.store.readRange(keys.schedules());
      await operator.apply(buildImportMutation(buildImport(buildManyDefinitions(count))));
      expect((await operator.apply(buildImportMutation(buildImport(buildManyDefinitions(count))))).kind).toBe(
        "nothing",
      );
      await operator.apply(buildImportMutation(buildImport(buildManyDefinitions(count, "30 * * * *"))));
      expect((await operator.apply(buildImportMutation(buildImport(new Map())))).kind).toBe("nothing");
      await operator.apply(buildImportMutation(buildImport(new Map(), true)));
      const outcomes = (await operator.listRecords()).map((record) => record?.outcome);
      expect(outcomes.sort()).toEqual(
        ["added", `${count} added`, `${count} changed`, `${count} deleted`].sort(),
      );
      const left = await operator.store.readRange(keys.schedules());
      expect(left.kvs).toHaveLength(1);
      expect((await operator.store.readRange(keys.dues())).kvs).toHaveLength(1);
      expect(left.revision - revision, "one write each").toBe(3n);
    },
  );

  test("keeps a pause, which is an operator's", async ({ operator }) => {
    await operator.apply(buildImportMutation(buildImport(buildManyDefinitions(1))));
    await operator.apply(buildPauseMutation(["s0"], { by: BY }));
    expect((await operator.apply(buildImportMutation(buildImport(buildManyDefinitions(1))))).kind).toBe(
      "nothing",
    );
    await operator.apply(buildImportMutation(buildImport(buildManyDefinitions(1, "5 * * * *"))));
    expect(await readDefinition(operator, "s0")).toMatchObject({
      cron: "5 * * * *",
      pause: { by: "ann@ops.example.com" },
    });
  });

  test("takes up where schedules stand elsewhere, and moves none back", async ({ operator }) => {
    const from = (next: number, cron = "0 * * * *") =>
      operator.apply(
        buildImportMutation({
          ...buildImport(buildManyDefinitions(1, cron)),
          positions: new Map([["s0", { next: next * HOUR, runAt: next * HOUR + 5 }]]),
        }),
      );
    const last = { scheduled: 0, startedAt: 0, endedAt: 0, late: 0, result: "ok", run: "r" } as const;
    const readNext = async () => (await operator.readDue("s0")).next;
    await from(3);
    expect(await operator.readDue("s0")).toEqual({ next: 3 * HOUR, runAt: 3 * HOUR + 5, open: [] });
    await operator.put(keys.due("s0"), formatDue({ next: 5 * HOUR, runAt: 5 * HOUR, open: [], last }));
    expect((await from(4)).kind, "it has come further here").toBe("nothing");
    expect((await from(5)).kind).toBe("nothing");
    expect((await from(6)).kind, "it has come further there").toBe("done");
    expect(await operator.readDue("s0")).toEqual({ next: 6 * HOUR, runAt: 6 * HOUR + 5, open: [], last });
    await from(2, "30 * * * *");
    expect(await readNext(), "another cron text moves what is due as it always does").not.toBe(2 * HOUR);
    await operator.put(keys.due("s0"), formatDue({ runAt: 0, open: [] }));
    expect((await from(9, "30 * * * *")).kind, "it has ended").toBe("nothing");
  });

  test("refuses ids that are somebody else's, and writes nothing", async () => {
    const operator = await createFixture("s1");
    await expect(operator.apply(buildImportMutation(buildImport(buildManyDefinitions(3))))).rejects.toThrow(
      '"s1" exists already',
    );
    expect((await operator.store.readRange(keys.schedules())).kvs).toHaveLength(1);
  });

  test("of more than a transaction holds is refused", async ({ operator }) => {
    await expect(
      operator.apply(buildImportMutation(buildImport(buildManyDefinitions(1_900)))),
    ).rejects.toThrow("make them in parts, or with less data");
  });

  test("of many is refused, decided anew, when somebody adds one meanwhile", async ({ operator }) => {
    const amendment = buildImportMutation(buildImport(buildManyDefinitions(100)));
    let attempts = 0;
    const done = await operator.apply({
      ...amendment,
      decide: (result, now) => {
        attempts += 1;
        if (attempts === 1)
          void operator.put(keys.schedule("s5"), formatDefinition({ ...HOURLY, source: "crontab:x" }));
        return amendment.decide(result, now);
      },
    });
    expect(done.kind).toBe("done");
    expect(await operator.listRecords()).toMatchObject([{ outcome: "99 added, 1 changed" }]);
    expect(attempts).toBe(2);
  });
});
