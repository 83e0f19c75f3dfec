/** Each pane, and each line around the panes, separately. */
import { cleanup } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { stripStyles } from "../../../src/base/text.ts";
import { Bar, buildBar } from "../../../src/console/panes/Bar.tsx";
import { DetailPane } from "../../../src/console/panes/DetailPane.tsx";
import { Explorer } from "../../../src/console/panes/Explorer.tsx";
import { Panel, PanelTitle } from "../../../src/console/panes/Panel.tsx";
import { Divider, TitleRule } from "../../../src/console/panes/Screen.tsx";
import type { TableModel } from "../../../src/console/panes/Table.tsx";
import { Table } from "../../../src/console/panes/Table.tsx";
import { Tabs } from "../../../src/console/panes/Tabs.tsx";
import { createRow } from "../../../src/console/theme/cells.ts";
import { getTheme } from "../../../src/console/theme/theme.ts";
import { renderComponent } from "./render-component.ts";

afterEach(cleanup);

const ansi = getTheme("ansi", "16", true);

describe("a bar", () => {
  const left = [
    { text: " signalbox ", role: "barName", weight: 1 },
    { text: " etcd1,etcd2", role: "bar", weight: 3 },
  ] as const;
  const right = [{ text: " ops@web1 ", role: "bar", weight: 2 }] as const;

  it.each([
    [40, " signalbox  etcd1,etcd2        ops@web1"],
    [22, " signalbox   ops@web1"],
    [11, " signalbox"],
    [5, " sig…"],
  ])("of %i columns shows what fits, the most important last to go", (width, text) => {
    const bar = buildBar(width, left, right, "bar");
    const [shown = ""] = renderComponent(createElement(Bar, { bar }));
    expect(stripStyles(shown).trimEnd()).toBe(text);
  });

  it("has its ground between the segments", () => {
    const bar = buildBar(30, left.slice(0, 1), right, "bar");
    const [shown = ""] = renderComponent(createElement(Bar, { bar }), ansi);
    expect(shown).toMatch(/^\x1b\[1m\x1b\[7m signalbox \x1b\[22m {9} ops@web1 \x1b\[27m$/);
  });
});

describe("the tabs", () => {
  it("are separated, and the active one is underlined", () => {
    const tabs = [
      { id: "locks", text: "Locks 3", role: "tabActive" },
      { id: "hosts", text: "Hosts", role: "tab" },
    ] as const;
    const model = { start: " ", end: " …", separator: " | ", tabs };
    const [shown = ""] = renderComponent(createElement(Tabs, { model }), ansi);
    expect(shown).toContain("\x1b[1m\x1b[4mLocks 3\x1b[24m\x1b[22m");
    expect(shown).toMatch(/Hosts …$/);
  });
});

describe("the explorer", () => {
  it("has a title and its nodes, as many as fit", () => {
    const nodes = ["one", "two", "three"].map((text) => ({
      key: text,
      cells: [{ text }],
      selection: undefined,
    }));
    const model = { width: 12, height: 3, isFocused: false, nodes };
    expect(renderComponent(createElement(Explorer, { model }))).toEqual([" EXPLORER", "one", "two"]);
  });

  it("has another title while it has the keyboard", () => {
    const render = (isFocused: boolean) =>
      renderComponent(
        createElement(Explorer, { model: { width: 12, height: 1, isFocused, nodes: [] } }),
        ansi,
      );
    expect(render(true)).not.toEqual(render(false));
  });
});

describe("the table", () => {
  const model: TableModel = {
    width: 30,
    height: 5,
    notes: [createRow(" / filter a: 2 of 9", "match")],
    head: [
      { text: "NAME  ", role: "heading" },
      { text: "STATE", role: "heading" },
    ],
    rows: ["a", "b"].map((key, at) => ({
      key,
      isMarked: at === 1,
      cells: [{ text: `${key}     ` }, { text: "held", role: "held" }],
      selection: at === 1 ? "focused" : undefined,
    })),
  };

  it("has its notes, its titles, and a column for marks", () => {
    expect(renderComponent(createElement(Table, { model }), getTheme("dark", "16", true))).toHaveLength(5);
    const plain = { ...model, rows: model.rows.map((row) => ({ ...row, selection: undefined })) };
    const lines = renderComponent(createElement(Table, { model: { ...plain, notes: [], head: undefined } }));
    expect(lines.slice(0, 2)).toEqual(["  a     held", "\x1b[1mx\x1b[22m b     held"]);
  });

  it("follows its rows: a row that moves keeps its cells", () => {
    const [a, b] = model.rows;
    if (a === undefined || b === undefined) throw new Error("there are two rows");
    const lines = renderComponent(
      createElement(Table, {
        model: {
          ...model,
          notes: [],
          head: undefined,
          rows: [{ ...b, selection: undefined, isMarked: false }, a],
        },
      }),
    );
    expect(lines.slice(0, 2)).toEqual(["  b     held", "  a     held"]);
  });
});

describe("the detail", () => {
  it("says how many lines follow", () => {
    const rows = [createRow(" lock a: held"), createRow("   by  web1")];
    const render = (more: number) =>
      renderComponent(createElement(DetailPane, { model: { width: 40, height: 3, rows, more } }));
    expect(render(0)).toEqual([" lock a: held", "   by  web1", ""]);
    expect(render(7)).toEqual([" lock a: held", "   by  web1", " ... 7 more lines"]);
  });
});

describe("the panel", () => {
  it("shows as many rows as fit", () => {
    const rows = ["one", "two", "three"].map((text) => createRow(text));
    const model = { width: 20, height: 2, rows };
    expect(renderComponent(createElement(Panel, { model }))).toEqual(["one", "two"]);
  });

  it("has the names of its views above it, as wide as the screen", () => {
    const titles = [
      { id: "events", text: "EVENTS", isActive: true },
      { id: "jobs", text: "JOBS 2", isActive: false },
    ] as const;
    const model = { width: 40, isFocused: false, titles };
    const [shown = ""] = renderComponent(createElement(PanelTitle, { model }), getTheme("mono", "16", true));
    expect(shown).toBe(`- \x1b[1mEVENTS\x1b[22m  JOBS 2 ${"-".repeat(23)}`);
  });
});

describe("lines between panes", () => {
  it("have a title where one pane is above the other", () => {
    const rule = createElement(TitleRule, { title: "DETAIL", isFocused: false, width: 20 });
    expect(renderComponent(rule)).toEqual(["- DETAIL -----------"]);
  });

  it("are as high as the panes beside them", () => {
    expect(renderComponent(createElement(Divider, { height: 3 }))).toEqual(["|", "|", "|"]);
  });
});
