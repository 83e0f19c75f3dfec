/** Values of keys in etcd: from signalbox, written by hand, from a later version, hostile. */
import { describe, expect, test } from "vitest";
import { formatDefinition, getScheduleType, parseDefinition } from "../../src/schedule/definition.ts";
import { COMMAND_TYPE, canHandle } from "../../src/schedule/handler-types.ts";
import { computeJitter, listWorkersBefore } from "../../src/schedule/hash.ts";
import { formatDue, parseDue } from "../../src/schedule/state/due.ts";
import {
  formatRunning,
  formatWorker,
  parseRunning,
  parseWorker,
} from "../../src/schedule/state/running-record.ts";

const definition = {
  cron: "*/5 * * * *",
  timezone: "Europe/Berlin",
  command: ["./x"],
  retries: 2,
  data: { a: [1] },
};
const open = { scheduled: 60_000, runAt: 61_000, attempt: 1, failures: 0, kind: "due" as const };
const due = { next: 120_000, runAt: 120_000, open: [open] };
const running = { worker: "w", host: "h", pid: 1, run: "r", scheduled: 1, attempt: 1, since: 2, late: 1 };
const worker = {
  host: "h",
  pid: 1,
  version: "1",
  since: 1,
  wall: 2,
  beat: 1,
  types: ["a"],
  tags: [],
  running: 0,
  concurrency: 4,
  clock: "ok" as const,
};

describe("read back", () => {
  test("a definition", () =>
    expect(parseDefinition(formatDefinition(definition))).toEqual({ value: definition }));
  test("a state", () => expect(parseDue(formatDue(due))).toEqual({ value: due }));
  test("one without open occurrences is short", () =>
    expect(formatDue({ ...due, open: [] })).not.toContain("open"));
  test("who runs", () => expect(parseRunning(formatRunning(running))).toMatchObject({ value: running }));
  test("a worker", () => expect(parseWorker(formatWorker(worker))).toMatchObject({ value: worker }));
  test("unknown fields pass", () => {
    expect(parseDefinition(JSON.stringify({ ...definition, later: 1 }))).toMatchObject({
      value: { later: 1 },
    });
    expect(parseDue(JSON.stringify({ ...due, later: 1 }))).toEqual({ value: due });
  });
});

describe("refused", () => {
  test.each<[string, object | string, RegExp]>([
    ["no JSON", "x", /not a JSON object/],
    ["no object", "[]", /not a JSON object/],
    ["no cron text", { ...definition, cron: undefined }, /cron is missing/],
    ["a bad cron text", { ...definition, cron: "61 * * * *" }, /61/],
    ["no zone", { ...definition, timezone: 7 }, /timezone "7"/],
    ["an unknown zone", { ...definition, timezone: "Europe/Berlim" }, /Europe\/Berlin/],
    ["a delay that is none", { ...definition, delay: "5m" }, /delay "5m" is not a duration/],
    ["a negative one", { ...definition, jitter: -1 }, /jitter/],
    ["retries that are none", { ...definition, retries: 1.5 }, /retries "1.5"/],
    ["a count of outcomes that is none", { ...definition, keep: 0 }, /keep "0" is not a whole number from 1/],
    ["too many outcomes", { ...definition, keep: 101 }, /keep "101"/],
    [
      "an unknown rule",
      { ...definition, catchup: "some" },
      /catchup must be one of all, latest, none; got "some"/,
    ],
    [
      "another",
      { ...definition, overlap: "maybe" },
      /overlap must be one of forbid, allow, replace; got "maybe"/,
    ],
    ["an empty command", { ...definition, command: [] }, /command/],
    ["a command of numbers", { ...definition, command: [1] }, /command/],
    ["env of numbers", { ...definition, env: { A: 1 } }, /env/],
    ["leases that are none", { ...definition, leases: "db=2" }, /leases/],
    ["an unknown hook", { ...definition, hooks: { boom: "http://x" } }, /hook "boom"/],
    ["a pause that cannot be read", { ...definition, pause: true }, /pause/],
  ])("a definition with %s", (_, value, message) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    expect(parseDefinition(text)).toMatchObject({ fault: expect.stringMatching(message) });
  });

  test.each([
    "",
    "7",
    "{}",
    '{"runAt":"x"}',
    '{"runAt":1,"next":-1}',
    '{"runAt":1,"open":{}}',
    '{"runAt":1,"open":[{}]}',
    '{"runAt":1e300}',
  ])("a state %s", (text) => expect(parseDue(text)).toHaveProperty("fault"));
  test.each(["", "{}", '{"worker":1}'])("who runs %s", (text) =>
    expect(parseRunning(text)).toHaveProperty("fault"),
  );
  test.each(["", "{}", '{"host":"h"}'])("a worker %s", (text) =>
    expect(parseWorker(text)).toHaveProperty("fault"),
  );
});

describe("types", () => {
  test("a schedule without one has its id up to the first dot", () => {
    expect([
      getScheduleType("reports.daily.x", {}),
      getScheduleType("plain", {}),
      getScheduleType("a.b", { type: "mail" }),
    ]).toEqual(["reports", "plain", "mail"]);
  });
  test.each<[readonly string[], string, object, boolean]>([
    [["mail"], "x", { type: "mail" }, true],
    [["mail"], "x", { type: "mails" }, false],
    [["/^ma/"], "x", { type: "mails" }, true],
    [["/(/", "mails"], "x", { type: "mails" }, true],
    [["/./"], "x", { command: ["./x"] }, false],
    [[COMMAND_TYPE], "x", { command: ["./x"] }, true],
    [[COMMAND_TYPE], "x", { type: "mail" }, false],
  ])("%j has %s %j: %s", (types, id, change, expected) => {
    const { command: _, ...rest } = definition;
    expect(canHandle(types, id, { ...rest, ...change })).toBe(expected);
  });
});

describe("spreading", () => {
  const ids = Array.from({ length: 3_000 }, (_, n) => `schedule-${n}`);
  test("all workers have a like share of first places, and one that leaves moves only its own", () => {
    const workers = ["w1", "w2", "w3", "w4"];
    const first = (among: readonly string[]) =>
      ids.map((id) => among.find((worker) => listWorkersBefore(worker, among, id).length === 0));
    const before = first(workers);
    for (const worker of workers)
      expect(before.filter((one) => one === worker).length / ids.length).toBeCloseTo(0.25, 1);
    const after = first(["w1", "w2", "w3"]);
    for (const [at, worker] of before.entries()) if (worker !== "w4") expect(after[at]).toBe(worker);
  });

  test("every place is somebody's", () => {
    const workers = ["w1", "w2", "w3"];
    for (const id of ids.slice(0, 100))
      expect(workers.map((one) => listWorkersBefore(one, workers, id).length).toSorted()).toEqual([0, 1, 2]);
  });

  test("jitter fills its span evenly", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const id of ids) {
      const share = Math.floor(computeJitter(id, 1_000) / 100);
      tenths[share] = (tenths[share] ?? 0) + 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(220);
    expect(computeJitter("x", 0)).toBe(0);
  });
});
