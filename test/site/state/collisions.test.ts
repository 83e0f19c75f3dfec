/** Schedules that compete, as tables of definitions and outcomes. */
import { describe, expect, it } from "vitest";
import { createDefinition } from "../../../fixtures/schedule/schedule-keys.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { findCollisions, shiftCron, suggestSpread } from "../../../src/site/state/collisions.ts";
import { forecastSchedule, type RecordedSchedule } from "../../../src/site/state/forecast.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FROM = Date.UTC(2026, 0, 5);
const SPAN = { from: FROM, until: FROM + 24 * HOUR };

/** A schedule whose three runs took this long. */
function inputOf(id: string, cron: string, took?: number, more: Partial<Definition> = {}): RecordedSchedule {
  const run = (startedAt: number) => ({
    scheduled: startedAt,
    result: "ok" as const,
    startedAt,
    endedAt: startedAt + (took ?? 0),
  });
  const runs = took === undefined ? [] : [run(FROM - HOUR), run(FROM - 2 * HOUR), run(FROM - 3 * HOUR)];
  return { id, definition: createDefinition({ cron, ...more }), runs };
}

function report(inputs: readonly RecordedSchedule[], totals: Record<string, number> = {}) {
  const forecasts = inputs.map((input) => forecastSchedule(input, SPAN));
  const found = findCollisions(forecasts, new Map(Object.entries(totals)));
  return { ...found, commands: suggestSpread(found, forecasts).map(({ command }) => command) };
}

describe("a plan that depends on an event", () => {
  const listStarts = (cron: string, due?: RecordedSchedule["due"]) =>
    forecastSchedule({ ...inputOf("job", cron), due }, SPAN).starts;

  it("after its end: the start that is planned, and none while it runs", () => {
    const next = FROM + HOUR;
    expect(listStarts("@after-end 5m", { next, runAt: next, open: [] })).toEqual([next]);
    expect(listStarts("@after-end 5m", { runAt: 0, open: [] })).toEqual([]);
  });

  it("at boot: none", () => {
    expect(listStarts("@reboot", { runAt: 0, open: [], boots: { since: 0, ids: [] } })).toEqual([]);
  });
});

describe("starts in the same minute", () => {
  it.each([
    ["twice a day", ["0 3,15 * * *", "0 3,15 * * *"], [2]],
    ["only where all meet", ["*/30 * * * *", "0 3 * * *"], [1]],
    ["other minutes", ["1 3 * * *", "0 3 * * *"], []],
    ["one of them never", ["@manual", "0 3 * * *"], []],
    ["each set of schedules on its own", ["0 * * * *", "0 3,4 * * *", "0 4 * * *"], [1, 1]],
  ])("%s", (_, crons, minutes) => {
    const found = report(crons.map((cron, at) => inputOf(`job${at}`, cron))).starts;
    expect(found.map((one) => one.minutes)).toEqual(minutes);
  });

  it.each([
    ["a delay moves it", { delay: MINUTE }, 0],
    ["a delay within the minute does not", { delay: 30_000 }, 1],
    ["a pause without an end", { pause: { by: "ann", at: FROM } }, 0],
    ["a pause that ends before", { pause: { by: "ann", at: FROM, until: FROM + HOUR } }, 1],
    ["a pause that ends later", { pause: { by: "ann", at: FROM, until: FROM + 4 * HOUR } }, 0],
    ["an end before", { end: FROM + HOUR }, 0],
  ])("%s", (_, more, count) => {
    expect(
      report([inputOf("a", "0 3 * * *"), inputOf("b", "0 3 * * *", undefined, more)]).starts,
    ).toHaveLength(count);
  });

  it("the more frequent one stays, and the other gets a jitter or a delay", () => {
    const { commands } = report([inputOf("often", "*/10 * * * *"), inputOf("backup", "0 3 * * *")]);
    expect(commands).toEqual([
      expect.stringMatching(/^signalbox schedule edit backup --(jitter 5m|delay 1m)$/),
    ]);
    const tight = report([inputOf("a", "* * * * *"), inputOf("b", "* * * * *")]);
    expect(tight.commands).toEqual([]);
  });

  it("what is suggested ends the collision", () => {
    const inputs = Array.from({ length: 12 }, (_, at) => inputOf(`job${at}`, "0 3 * * *"));
    const forecasts = inputs.map((input) => forecastSchedule(input, SPAN));
    const [first] = findCollisions(forecasts, new Map()).starts;
    const moves = new Map(
      suggestSpread(findCollisions(forecasts, new Map()), forecasts).map((one) => [one.id, one]),
    );
    expect(moves.size).toBe(11);
    const moved = inputs.map((input) => {
      const move = moves.get(input.id);
      const definition = move ? { ...input.definition, [move.flag]: move.value } : input.definition;
      return forecastSchedule({ ...input, definition }, SPAN);
    });
    const still = findCollisions(moved, new Map()).starts.filter((one) => one.first === first?.first);
    expect(still).toEqual([]);
  });
});

describe("leases beyond the total", () => {
  const lease = (text: string) => ({ leases: [text] });
  interface Case {
    what: string;
    /** Of the runs so far, ms; null if there are none. */
    took?: number | null;
    minute?: number;
    leases?: [string, string];
    total?: number;
    peak: number[];
  }
  it.each<Case>([
    { what: "together", peak: [4] },
    { what: "one after the other", took: 5 * MINUTE, peak: [] },
    { what: "within the total", leases: ["db=2", "db=1"], peak: [] },
    { what: "the smallest stated total", leases: ["db=2:9", "db=2:3"], total: 0, peak: [4] },
    { what: "no total", total: 0, peak: [] },
    { what: "macros are left out", leases: ["HOST_db=2:3", "HOST_db=2:3"], total: 0, peak: [] },
    { what: "an unknown duration is a minute", took: null, minute: 0, peak: [4] },
  ])("$what", ({ took = 10 * MINUTE, minute = 5, leases = ["db=2", "db=2"], total = 3, peak }) => {
    const [one, other] = leases;
    const inputs = [
      inputOf("a", "0 3 * * *", took ?? undefined, lease(one)),
      inputOf("b", `${minute} 3 * * *`, took ?? undefined, lease(other)),
    ];
    const found = report(inputs, total === 0 ? {} : { db: total });
    expect(found.leases.map((collision) => collision.peak)).toEqual(peak);
  });

  it("the later one is delayed until the earlier one has ended", () => {
    const inputs = [
      inputOf("a", "0 3 * * *", 10 * MINUTE, lease("db=2")),
      inputOf("b", "5 3 * * *", MINUTE, lease("db=2")),
    ];
    const { commands, leases } = report(inputs, { db: 3 });
    expect(leases).toEqual([
      { resource: "db", total: 3, peak: 4, times: 1, first: FROM + 3 * HOUR + 5 * MINUTE, ids: ["a", "b"] },
    ]);
    expect(commands).toEqual(["signalbox schedule edit b --delay 5m"]);
  });
});

describe("runs that have not ended", () => {
  const lock = (name: string) => ({ command: ["/usr/bin/signalbox", "run", "--lock", name, "--", "make"] });
  const sharing = { command: ["signalbox", "run", "--lock", "x", "--shared", "--", "make"] };
  it.each([
    ["longer than the interval", [inputOf("a", "0 * * * *", 90 * MINUTE)], ["a a"]],
    ["as long as the interval", [inputOf("a", "0 * * * *", HOUR)], []],
    ["overlaps are allowed", [inputOf("a", "0 * * * *", 90 * MINUTE, { overlap: "allow" })], []],
    ["no run is recorded", [inputOf("a", "* * * * *")], []],
    [
      "one lock",
      [inputOf("a", "0 3 * * *", 10 * MINUTE, lock("x")), inputOf("b", "5 3 * * *", MINUTE, lock("x"))],
      ["a b"],
    ],
    [
      "one lock that both share",
      [inputOf("a", "0 3 * * *", 10 * MINUTE, sharing), inputOf("b", "5 3 * * *", MINUTE, sharing)],
      [],
    ],
    [
      "one lock that one of them shares",
      [inputOf("a", "0 3 * * *", 10 * MINUTE, sharing), inputOf("b", "5 3 * * *", MINUTE, lock("x"))],
      ["a b"],
    ],
    [
      "every pair, also within a run that ends later",
      [
        inputOf("a", "0 3 * * *", 30 * MINUTE, lock("x")),
        inputOf("b", "5 3 * * *", 10 * MINUTE, lock("x")),
        inputOf("c", "10 3 * * *", MINUTE, lock("x")),
        inputOf("d", "20 3 * * *", MINUTE, lock("x")),
      ],
      ["a b", "a c", "b c", "a d"],
    ],
    [
      "two locks",
      [inputOf("a", "0 3 * * *", 10 * MINUTE, lock("x")), inputOf("b", "5 3 * * *", MINUTE, lock("y"))],
      [],
    ],
  ])("%s", (_, inputs, pairs) => {
    expect(report(inputs).overlaps.map(({ earlier, later }) => `${earlier} ${later}`)).toEqual(pairs);
  });

  it("another schedule is delayed; for one that takes too long, there is no other minute", () => {
    const both = [
      inputOf("a", "0 3 * * *", 10 * MINUTE, lock("x")),
      inputOf("b", "5 3 * * *", MINUTE, { ...lock("x"), delay: MINUTE }),
    ];
    expect(report(both).commands).toEqual(["signalbox schedule edit b --delay 5m"]);
    expect(report([inputOf("a", "0 * * * *", 90 * MINUTE)]).commands).toEqual([]);
  });
});

describe("another minute", () => {
  const lock = { command: ["signalbox", "run", "--lock", "x", "--", "make"] };
  it.each([
    [
      "one that nobody has",
      [inputOf("a", "0 3 * * *"), inputOf("b", "0 3 * * *"), inputOf("c", "1,2 3 * * *")],
      ["b 3 3 * * *"],
    ],
    [
      "each a different one",
      [inputOf("a", "0 3 * * *"), inputOf("b", "0 3 * * *"), inputOf("c", "0 3 * * *")],
      ["b 1 3 * * *", "c 2 3 * * *"],
    ],
    ["of a macro", [inputOf("a", "0 0 * * *"), inputOf("b", "@daily")], ["b 1 0 * * *"]],
    [
      "with one that starts each minute, the fewest others",
      [inputOf("a", "* * * * *"), inputOf("b", "0 3 * * *"), inputOf("c", "0,1 3 * * *")],
      ["b 2 3 * * *"],
    ],
    [
      "after the end of the other",
      [inputOf("a", "0 3 * * *", 10 * MINUTE, lock), inputOf("b", "5 3 * * *", MINUTE, lock)],
      ["b 10 3 * * *"],
    ],
    ["none in this form", [inputOf("a", "0 23 * * *"), inputOf("b", "0-0 23 * * *")], ["b -"]],
  ])("%s", (_, inputs, crons) => {
    const forecasts = inputs.map((input) => forecastSchedule(input, SPAN));
    const found = suggestSpread(findCollisions(forecasts, new Map()), forecasts);
    expect(found.map(({ id, cron = "-" }) => `${id} ${cron}`)).toEqual(crons);
  });
});

it.each([
  ["0 3 * * *", 5, "5 3 * * *"],
  ["0,30 3 * * 1-5", 5, "5,35 3 * * 1-5"],
  ["55 3 * * *", 10, "5 4 * * *"],
  ["55 23 * * *", 10, undefined],
  ["0,55 3 * * *", 10, undefined],
  ["50 * * * *", 20, "10 * * * *"],
  ["0,50 * * * *", 20, "10,20 * * * *"],
  ["*/15 * * * *", 4, "4-59/15 * * * *"],
  ["*/15 * * * *", 15, undefined],
  ["*/7 * * * *", 1, undefined],
  ["* * * * *", 1, undefined],
  ["0-10 * * * *", 1, undefined],
  ["@daily", 7, "7 0 * * *"],
  ["@hourly", 7, "7 * * * *"],
  ["@weekly", 7, "7 0 * * 0"],
  ["@manual", 7, undefined],
] as const)("the minutes of %s, %i later", (text, minutes, moved) => {
  expect(shiftCron(text, minutes)).toBe(moved);
});
