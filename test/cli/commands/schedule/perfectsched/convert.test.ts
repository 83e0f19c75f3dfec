/** Conversion of PerfectSched's table to schedules: the export formats of databases, results of rows, and refused rows. */
import { describe, expect, it } from "vitest";
import {
  convertTable,
  type TableImportOptions,
} from "../../../../../src/cli/commands/schedule/perfectsched.ts";

const T = 1_795_262_400; // 2026-11-21 12:00 UTC
const TERMS: TableImportOptions = {
  type: undefined,
  prefix: "",
  source: "perfectsched",
  now: (T - 60) * 1000,
};
const convert = (text: string, terms: Partial<TableImportOptions> = {}) =>
  convertTable(text, { ...TERMS, ...terms });
const faults = (text: string) => convert(text).faults.map(({ line, detail }) => `${line}: ${detail}`);
const notes = (text: string, terms: Partial<TableImportOptions> = {}) =>
  convert(text, terms).notes.map(({ line, detail }) => `${line}: ${detail}`);

const HEAD = "id,timeout,next_time,cron,delay,data,timezone";
const DATA = { to: 'a"b\\c', text: "two\nlines\tand,more" };
/** What PerfectSched keeps: the type among the data. */
const KEPT = JSON.stringify({ ...DATA, type: "mail" });
const SCHEDULE = {
  cron: "0 * * * *",
  timezone: "Asia/Tokyo",
  type: "mail",
  delay: 30_000,
  data: DATA,
  catchup: "all",
  source: "perfectsched",
};
const csv = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const outfile = (cell: string) => `"${cell.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
const batch = (cell: string) => cell.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
const ROW = {
  id: "a.b",
  timeout: T + 30,
  next_time: T,
  cron: "0 * * * *",
  delay: 30,
  data: KEPT,
  timezone: "Asia/Tokyo",
};

describe("ways of writing it", () => {
  it.each([
    ["CSV", `${HEAD}\na.b,${T + 30},${T},0 * * * *,30,${csv(KEPT)},Asia/Tokyo\n`],
    [
      "CSV, all in quotes",
      [
        HEAD.split(",").map(csv),
        ["a.b", String(T + 30), String(T), "0 * * * *", "30", KEPT, "Asia/Tokyo"].map(csv),
      ].join("\r\n"),
    ],
    ["semicolons", `${HEAD.replaceAll(",", ";")}\na.b;${T + 30};${T};0 * * * *;30;${csv(KEPT)};Asia/Tokyo`],
    ["MySQL's OUTFILE", `${HEAD}\n"a.b",${T + 30},${T},"0 * * * *",30,${outfile(KEPT)},"Asia/Tokyo"\n`],
    [
      "mysql --batch",
      `${HEAD.replaceAll(",", "\t")}\na.b\t${T + 30}\t${T}\t0 * * * *\t30\t${batch(KEPT)}\tAsia/Tokyo\n`,
    ],
    [
      "mysql --batch --raw",
      `${HEAD.replaceAll(",", "\t")}\na.b\t${T + 30}\t${T}\t0 * * * *\t30\t${KEPT}\tAsia/Tokyo\n`,
    ],
    [
      "hexadecimal data",
      `${HEAD}\na.b,${T + 30},${T},0 * * * *,30,0x${Buffer.from(KEPT).toString("hex")},Asia/Tokyo\n`,
    ],
    [
      "columns in another order",
      `CRON,DATA,ID,NEXT_TIME,DELAY,TIMEZONE\n0 * * * *,${csv(KEPT)},a.b,${T},30,Asia/Tokyo\n`,
    ],
    ["a JSON array", JSON.stringify([ROW], undefined, 2)],
    ["a JSON object a line", `${JSON.stringify(ROW)}\n`],
    [
      "numbers as texts, data taken apart",
      JSON.stringify([
        { ...ROW, timeout: String(T + 30), next_time: String(T), delay: "30", data: JSON.parse(KEPT) },
      ]),
    ],
  ])("%s", (_, text) => {
    const { definitions, positions, ...rest } = convert(text);
    expect(rest).toEqual({ faults: [], notes: [] });
    expect([...definitions]).toEqual([["a.b", SCHEDULE]]);
    expect([...positions]).toEqual([["a.b", { next: T * 1000, runAt: (T + 30) * 1000 }]]);
  });

  it("many rows, quoted line breaks and empty lines among them", () => {
    const text = `${HEAD}\n\n"a\nb",1,1,@daily,0,,\nc,${T},${T},@daily,0,"{\n}",UTC\n\nc,${T},${T},@daily,0,{},UTC\n`;
    const { definitions, faults } = convert(text);
    expect([...definitions.keys()]).toEqual(["c"]);
    expect(faults).toEqual([
      { line: 3, detail: "id: it contains a control character" },
      { line: 8, detail: '"c" occurs twice' },
    ]);
  });

  it("a megabyte in one cell", () => {
    const data = JSON.stringify({ text: '"'.repeat(500_000) });
    expect(convert(`${HEAD}\na,1,1,@daily,0,${csv(data)},UTC`).faults).toEqual([]);
    expect(convert(`${HEAD}\na,1,1,@daily,0,${outfile(data)},UTC`).faults).toEqual([]);
    const endless = `${HEAD}\n"${'""'.repeat(2_500_000)}`; // more than one pattern could take
    expect(faults(endless)).toEqual(["2: a quoted cell has no closing quote"]);
  });
});

describe("numbers that would be others", () => {
  const detail =
    'the number "12345678901234567890" would become 12345678901234567000; write it as a string, in quotes';
  it.each([
    ["in data of CSV", `${HEAD}\na,1,1,@daily,0,"{""id"":12345678901234567890}",UTC\n`, `2: data: ${detail}`],
    [
      "in data of JSON",
      JSON.stringify([{ ...ROW, data: '{"id":12345678901234567890}' }]),
      `1: data: ${detail}`,
    ],
    [
      "in data taken apart",
      '[\n{"id":"a","next_time":1,"cron":"@daily","data":{"x":"\\"1e999","id":12345678901234567890}}]',
      `2: ${detail}`,
    ],
  ])("%s", (_, text, fault) => {
    expect(faults(text)).toEqual([fault]);
  });

  it("those that are exact, and what only looks like them in a text", () => {
    const data =
      '{"a":9007199254740991,"b":12345678901234567168,"c":0.1,"d":"12345678901234567890","e":-1e3}';
    expect(faults(`${HEAD}\na,1,1,@daily,0,${csv(data)},UTC\n`)).toEqual([]);
  });
});

describe("what a row means", () => {
  const only = (values: object, terms: Partial<TableImportOptions> = {}) => {
    const { definitions, positions, faults } = convert(JSON.stringify([{ ...ROW, ...values }]), terms);
    expect(faults).toEqual([]);
    const [[id, definition] = ["", undefined]] = definitions;
    return { id, definition, position: positions.get(id) };
  };

  it("no time zone is UTC, no delay none, no data {}", () => {
    const { definition } = only({ timezone: null, delay: null, data: null });
    expect(definition).toEqual({
      cron: "0 * * * *",
      timezone: "UTC",
      data: {},
      catchup: "all",
      source: "perfectsched",
    });
    const nulls = convert(`${HEAD}\na,1,1,@daily,\\N,NULL,\\N\n`);
    expect([...nulls.definitions.values()]).toEqual([
      { cron: "@daily", timezone: "UTC", data: {}, catchup: "all", source: "perfectsched" },
    ]);
  });

  it("the type of its data, else that of the line, else its id says it", () => {
    expect(only({}, { type: "other" }).definition?.type).toBe("mail");
    expect(only({ data: '{"type":""}' }, { type: "other" }).definition?.type).toBe("other");
    expect(only({ data: "{}" }, { type: "other" }).definition?.type).toBe("other");
    expect(only({ data: '{"type":null}' }).definition).not.toHaveProperty("type");
  });

  it("stands where it stood: the same occurrence, at the same time", () => {
    expect(only({ next_time: 5, timeout: 7 }).position).toEqual({ next: 5_000, runAt: 7_000 });
    expect(only({ timeout: null }).position).toEqual({ next: T * 1000, runAt: (T + 30) * 1000 });
  });

  it("gets a prefix, and a source", () => {
    expect(only({}, { prefix: "old." }).id).toBe("old.a.b");
    expect(only({}, { source: "jobs" }).definition?.source).toBe("jobs");
  });

  it("what a worker holds, or put off, is told", () => {
    const held = JSON.stringify([{ ...ROW, timeout: T + 600 }]);
    expect(notes(held)).toEqual([]); // still to come: somebody gave it an --at
    const now = { now: (T + 60) * 1000 };
    expect(notes(held, now)).toEqual([
      expect.stringMatching(
        /^1: "a\.b": its occurrence of 2026-11-21 12:00:00 UTC was claimed by a worker, or delayed; it starts here at 2026-11-21 12:10:00 UTC\. If that worker still runs, stop it first/,
      ),
    ]);
    expect(notes(held, { now: (T + 700) * 1000 })[0]).toMatch("it starts here at once");
    expect(notes(JSON.stringify([ROW]), now), "only due").toEqual([]);
  });

  it("what PerfectSched reads differently, one note for each schedule and kind", () => {
    expect(notes(JSON.stringify([ROW, { ...ROW, id: "b", cron: "0 12 13 * 5" }]))).toEqual([
      expect.stringMatching(
        /^1: "b": "0 12 13 \* 5": days .* one match is enough; in PerfectSched up to 0.8.10/,
      ),
    ]);
    const both = { ...ROW, cron: "30 2 */2 * 5", timezone: "Europe/Berlin" };
    expect(notes(JSON.stringify([both]))).toEqual([
      expect.stringMatching(/both must match; in PerfectSched from 0.8.11 on/),
      expect.stringContaining("takes the multiples of the step"),
    ]);
  });

  it("a time that only signalbox understands has no note", () => {
    expect(notes(JSON.stringify([{ ...ROW, cron: "@manual" }]))).toEqual([]);
  });

  it("columns that mean nothing are told", () => {
    expect(notes(`${HEAD},owner\na,1,1,@daily,0,{},UTC,ann\n`)).toEqual(['1: column "owner" is ignored']);
    expect(
      notes(
        JSON.stringify([
          { ...ROW, owner: 1 },
          { ...ROW, id: "b", owner: 1 },
        ]),
      ),
    ).toEqual(['1: column "owner" is ignored']);
  });
});

describe("what is refused, with its line", () => {
  it.each([
    ["", ["1: the file is empty"]],
    [
      "a,1,1,@daily,0,{},UTC",
      [
        "1: the first line must name the columns (id,timeout,next_time,cron,delay,data,timezone); id, next_time, cron are missing",
      ],
    ],
    [
      "id,next_time\na,1",
      [
        "1: the first line must name the columns (id,timeout,next_time,cron,delay,data,timezone); cron is missing",
      ],
    ],
    ["id,cron,next_time,id\n", ['1: column "id" is named twice']],
    [`${HEAD}\na,1,1\n`, ["2: the line has 3 cells, but the first line has 7 columns"]],
    [`${HEAD}\na,"1,1,@daily`, ["2: a quoted cell has no closing quote"]],
    [`${HEAD}\na,"1"x,1,@daily,0,{},UTC`, ["2: a cell continues after its closing quote"]],
    [
      `${HEAD}\na,x,-1,@daily,1.5,"{}",UTC`,
      [
        '2: next_time "-1" is not a time in seconds since 1970',
        '2: delay "1.5" is not a number of seconds',
        '2: timeout "x" is not a time in seconds since 1970',
      ],
    ],
    [
      `${HEAD}\na,1,1,@daily,0,"{",UTC`,
      ['2: data "{" is not JSON; PerfectSched reads it as {}: write {} if that is right'],
    ],
    [
      `${HEAD}\na,1,1,@daily,0,[1],UTC`,
      ['2: data "[1]" is not a JSON object; PerfectSched reads it as {}: write {} if that is right'],
    ],
    [`${HEAD}\na,1,1,@daily,0,"{""type"":5}",UTC`, ["2: type 5 in data is not a text"]],
    [`${HEAD}\n,1,1,@daily,0,{},UTC`, ["2: id: it is empty"]],
    [
      `${HEAD}\na,1,1,61 * * * *,0,{},UTC\nb,1,1,@daily,0,{},Mars/Base`,
      [expect.stringMatching(/^2: .*61/), expect.stringMatching(/^3: .*Mars\/Base/)],
    ],
    [`${HEAD}\na,1,NULL,@daily,0,{},UTC`, ["2: next_time nothing is not a time in seconds since 1970"]],
    ["[", ["1: the file must be a JSON array of rows, or have one JSON object per line"]],
    [
      '[\n{"id":"a"},\n5,\n{"id":5,"next_time":1,"cron":"@daily"}\n]',
      [
        "2: next_time, cron are missing",
        "3: the row is not a JSON object",
        "4: id 5 is not a text",
        "4: id: it is empty",
      ],
    ],
    [`${JSON.stringify(ROW)}\nnot JSON`, ["2: the row is not a JSON object"]],
  ])("%j", (text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  it("hostile bytes are shown as what they are", () => {
    expect(faults(`${HEAD}\na,1,1,"\u001b[31m",0,{},UTC`).join()).not.toContain("\u001b");
  });
});
