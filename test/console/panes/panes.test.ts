// Covers src/console/panes/PanelTitle.tsx, src/console/panes/Rules.tsx, src/console/panes/models/detail-rows.ts
/** Each pane, and each line around the panes, separately. */
import { cleanup, render } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { stripStyles } from "../../../src/base/text.ts";
import { Bar } from "../../../src/console/panes/Bar.tsx";
import { buildBar } from "../../../src/console/panes/models/bar-model.ts";
import { buildDetailRows } from "../../../src/console/panes/models/detail-rows.ts";
import { buildExplorerRows } from "../../../src/console/panes/models/explorer-rows.ts";
import { buildTableRows } from "../../../src/console/panes/models/table-rows.ts";
import { PaneArea } from "../../../src/console/panes/PaneArea.tsx";
import { PanelTitle } from "../../../src/console/panes/PanelTitle.tsx";
import { Divider, TitleRule } from "../../../src/console/panes/Rules.tsx";
import { Tabs } from "../../../src/console/panes/Tabs.tsx";
import type { ConsoleData } from "../../../src/console/parts/parts.ts";
import {
  type Cursor,
  createInitialState,
  type Pane,
  START_CURSOR,
  type TabState,
  updateTab,
} from "../../../src/console/state/console-state.ts";
import type { Size } from "../../../src/console/state/layout.ts";
import { createRow, type RowModel } from "../../../src/console/theme/cells.ts";
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

/** Renders a pane from what its rows are built from. */
function renderPane(
  buildRows: (app: ConsoleData, size: Size) => RowModel[],
  app: object,
  size: Size,
  theme = getTheme("mono", "16", true),
): string[] {
  const rows = buildRows({ theme, ...app } as ConsoleData, size);
  return renderComponent(createElement(PaneArea, { model: { ...size, rows } }), theme);
}

describe("the explorer", () => {
  const nodes = ["one", "two", "three"].map((id) => ({
    ...{ id, label: id, note: "", depth: 0, tone: "plain", tab: "locks" },
  }));

  it("has a title and its nodes, as many as fit", () => {
    const app = { state: createInitialState(), tree: { nodes } };
    expect(renderPane(buildExplorerRows, app, { width: 12, height: 3 })).toEqual([
      ...[" EXPLORER", "   one", "   two"],
    ]);
  });

  it("has another title while it has the keyboard", () => {
    const render = (focus: Pane) => {
      const app = { state: { ...createInitialState(), focus }, tree: { nodes: [] } };
      return renderPane(buildExplorerRows, app, { width: 12, height: 1 }, ansi);
    };
    expect(render("explorer")).not.toEqual(render("table"));
  });
});

describe("the table", () => {
  const state = createInitialState();
  const size = { width: 30, height: 5 };

  /** Makes the console show a table of some rows. */
  function createApp(keys: readonly string[], change: Partial<TabState>) {
    const head = [
      { text: "NAME  ", role: "heading" },
      { text: "STATE", role: "heading" },
    ];
    const rows = keys.map((key) => [{ text: `${key}     ` }, { text: "held", role: "held" }]);
    const table = {
      ...{ length: keys.length, remarks: [], findIndex: () => 0, getKeyAt: (at: number) => keys[at] },
      buildRows: () => ({ head, rows }),
    };
    const getTabCounts = () => ({ locks: 9 });
    return { state: updateTab(state, "locks", change), table, getTabCounts, getWallTime: () => 0 };
  }

  it("has its notes, its titles, and a column for marks", () => {
    const app = createApp(["a", "b"], { filter: "a", marks: new Set(["b"]) });
    const lines = renderPane(buildTableRows, app, size);
    expect(lines).toHaveLength(5);
    expect(lines.map(stripStyles).slice(0, 2)).toEqual([" / filter a: 2 of 9, 1 marked", "  NAME  STATE"]);
    const cursor = { ...START_CURSOR, index: 9 };
    const plain = createApp(["a", "b"], { cursor, marks: new Set(["b"]) });
    expect(renderPane(buildTableRows, plain, size).slice(2, 4)).toEqual([
      ...["  a     held", "\x1b[1mx\x1b[22m b     held"],
    ]);
  });

  it("follows its rows: a row that moves keeps its cells", () => {
    const cursor = { ...START_CURSOR, index: 9 };
    const { rerender, lastFrame } = render(createTable(["a", "b"], cursor));
    rerender(createTable(["b", "a"], cursor));
    const lines = (lastFrame() ?? "").split("\n").map((line) => stripStyles(line).trimEnd());
    expect(lines.slice(1, 3)).toEqual(["  b     held", "  a     held"]);
  });

  function createTable(keys: readonly string[], cursor: Cursor) {
    const app = { theme: getTheme("mono", "16", true), ...createApp(keys, { cursor }) };
    const rows = buildTableRows(app as unknown as ConsoleData, size);
    return createElement(PaneArea, { model: { ...size, rows } });
  }
});

describe("the detail", () => {
  it("says how many lines follow", () => {
    const render = (count: number) => {
      const facts = Array.from({ length: count }, () => ({ label: "by", value: "web1" }));
      const getDetail = () => ({ heading: "lock a: held", tone: "plain", facts, sections: [] });
      const app = { state: createInitialState(), liveView: { hasRead: true }, getDetail };
      return renderPane(buildDetailRows, app, { width: 40, height: 3 });
    };
    expect(render(1)).toEqual([" lock a: held", "   by  web1", ""]);
    expect(render(8)).toEqual([" lock a: held", "   by  web1", " ... 7 more lines"]);
  });
});

describe("the panel", () => {
  it("shows as many rows as fit", () => {
    const rows = ["one", "two", "three"].map((text) => createRow(text));
    const model = { width: 20, height: 2, rows };
    expect(renderComponent(createElement(PaneArea, { model }))).toEqual(["one", "two"]);
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
