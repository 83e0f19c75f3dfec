import { beforeEach, describe, expect, test } from "vitest";
import { createSnapshot, createTicketKey, NOW } from "../../../fixtures/state/sample-snapshots.ts";
import { parseSortOrder } from "../../../src/cli/views/sort.ts";
import { ConsoleTable, type TableOptions } from "../../../src/console/data/console-table.ts";

const LOOK = { colours: false, marks: undefined, arrow: ">", width: 100 };
const ALL: TableOptions = { filter: "", order: undefined };
const held = (lock: string, at: number, host = lock) =>
  createTicketKey(`lock ${lock} held`, lock.slice(0, 1), at, { grantedAt: NOW - at * 1_000, host });
const locks = [held("beta", 1), held("alpha", 2, "a-host-with-a-very-long-name"), held("gamma", 3)];

let table: ConsoleTable;
beforeEach(() => {
  table = new ConsoleTable("locks");
  table.update(createSnapshot(locks), NOW, ALL);
});

const readNames = () => Array.from({ length: table.length }, (_, at) => table.getSubjectAt(at)?.name);
const readText = (spans: readonly { text: string }[]) => spans.map(({ text }) => text).join("");
const paint = (width = 100) => {
  const { head, rows } = table.buildRows({ top: 0, height: 10 }, NOW, { ...LOOK, width });
  return [head, ...rows].map(readText);
};

describe("a table of the console", () => {
  test("has the rows of its view, in the order of the view or in another one", () => {
    expect(readNames()).toEqual(["alpha", "beta", "gamma"]);
    table.update(createSnapshot(locks), NOW, { filter: "", order: parseSortOrder("-name") });
    expect(readNames()).toEqual(["gamma", "beta", "alpha"]);
  });

  test("filters, and finds a row by its key, near where it was", () => {
    expect([
      table.findIndex("lock/beta", 1),
      table.findIndex("lock/beta", 2),
      table.findIndex("lock/none", 0),
    ]).toEqual([1, 1, -1]);
    expect(table.findSubject("lock/gamma")).toEqual({ kind: "lock", name: "gamma" });
    expect(table.findSubject("lock/none")).toBeUndefined();
    table.update(createSnapshot(locks), NOW, { filter: "alp", order: undefined });
    expect(readNames()).toEqual(["alpha"]);
  });

  test("tells a row as JSON and as facts without empty columns", () => {
    expect(table.getJsonAt(0)).toMatchObject({ name: "alpha" });
    const facts = table.getFactsAt(0, NOW);
    expect(facts).toContainEqual({ label: "name", value: "alpha" });
    expect(facts.filter(({ value }) => value.trim() === "")).toEqual([]);
    expect([table.getJsonAt(9), table.getFactsAt(9, NOW), table.getSubjectAt(9)]).toEqual([
      undefined,
      [],
      undefined,
    ]);
  });

  test("leaves out columns that do not fit into a narrow terminal", () => {
    const paintIn = (width: number) => {
      const { head, rows } = table.buildRows({ top: 0, height: 10 }, NOW, { ...LOOK, width });
      return [head, ...rows].map(readText);
    };
    const [whole = ""] = paint();
    const [lean = "", row = ""] = paintIn(40);
    expect(whole.trim().split(/\s{2,}/).length).toBeGreaterThan(lean.trim().split(/\s{2,}/).length);
    expect(lean).toMatch(/NAME ▲ +STATE/);
    expect(row).toMatch(/alpha +held/);
    expect(paint()[0], "it has all columns again on a wide one").toBe(whole);
  });

  test("marks the column of its order", () => {
    expect(paint()[0]).toMatch("NAME ▲");
    table.update(createSnapshot(locks), NOW, { filter: "", order: parseSortOrder("-name") });
    expect(paint()[0]).toMatch("NAME ▼");
  });

  test("has columns that do not move when a long value goes, until filter, order or width change", () => {
    const [before = ""] = paint();
    expect(paint().join("\n")).toContain("a-host-with-a-very-long-name");
    table.update(createSnapshot(locks.filter((_, at) => at !== 1)), NOW, ALL);
    expect(paint()[0]).toBe(before);
    table.update(createSnapshot(locks.filter((_, at) => at !== 1)), NOW, { filter: "a", order: undefined });
    expect(paint()[0]).not.toBe(before);
  });

  test("paints the window only", () => {
    const { rows } = table.buildRows({ top: 1, height: 1 }, NOW, LOOK);
    expect(rows.map(readText)).toEqual([expect.stringContaining("beta")]);
  });
});
