/** The parts of the screen, and where they are. What they show of a real cluster: test/safety/console. */
import { Box, Text } from "ink";
import { cleanup, render } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { renderComponent } from "../../../fixtures/console/render-component.ts";
import { createStubConsole, withConsole } from "../../../fixtures/console/stub-console.ts";
import type { ConsoleApp } from "../../../src/console/console-app.ts";
import { useConsole } from "../../../src/console/context.tsx";
import { PartBoundary } from "../../../src/console/PartBoundary.tsx";
import { Bar, Header } from "../../../src/console/panes/Bar.tsx";
import { BorderLine, Divider } from "../../../src/console/panes/PaneArea.tsx";
import { Screen } from "../../../src/console/panes/Screen.tsx";
import { fitTabs, Tabs } from "../../../src/console/panes/Tabs.tsx";
import { createInitialState, isEtcdTab, TABS, type TabId } from "../../../src/console/state/console-state.ts";
import { createRow, Row } from "../../../src/console/theme/Row.tsx";
import { getTheme, type Theme } from "../../../src/console/theme/theme.ts";
import { stripStyles } from "../../../src/core/base/text.ts";

afterEach(cleanup);

const ansi = getTheme("ansi", "16", true);
const readCounts = (app: ConsoleApp) => app.getTabCounts();

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
    const bar = createElement(Bar, { width, left, right, ground: "bar" });
    const [shown = ""] = renderComponent(withConsole(createStubConsole(), bar));
    expect(stripStyles(shown).trimEnd()).toBe(text);
  });

  it("has its ground between the segments", () => {
    const bar = createElement(Bar, { width: 30, left: left.slice(0, 1), right, ground: "bar" });
    const [shown = ""] = renderComponent(withConsole(createStubConsole(), bar), ansi);
    expect(stripStyles(shown)).toBe(" signalbox           ops@web1 ");
    expect(shown).toMatch(/^\x1b\[1m\x1b\[7m/);
    expect(shown).toMatch(/\x1b\[27m$/);
  });
});

describe("the header", () => {
  const show = (width: number, name?: string) => {
    const app = createStubConsole({ getSubject: () => ({ kind: "lock", name: "backup-db" }) });
    const endpoints = ["etcd1", "etcd2.example.com", "etcd3"].map((host) => `https://${host}:2379`);
    Object.assign(app.context.settings, { endpoints, context: name });
    const header = createElement(Header, { width });
    return stripStyles(renderComponent(withConsole(app, header))[0] ?? "").trimEnd();
  };

  it("names the cluster and the user's place, and leaves out other things first", () => {
    const end = "! 1 problems  ops@web1";
    expect(show(80)).toBe(` signalbox  etcd1 +2 - /test/ - Locks > backup-db ${end.padStart(29)}`);
    expect(show(80, "prod")).toMatch(/^ signalbox {2}prod - \/test\/ - Locks > backup-db /);
    expect(show(60)).toBe(" signalbox  etcd1 +2 - Locks > backup-db       ! 1 problems");
    expect(show(40)).toBe(" etcd1 +2 - Locks > backup-db");
    expect(show(20)).toBe(" Locks > backup-db");
    expect(show(12)).toBe(" Locks > ba…");
  });
});

describe("the tabs", () => {
  const createApp = (tab: TabId) => createStubConsole({ state: { ...createInitialState(), tab } });
  const renderTabs = (app: ConsoleApp, width: number, theme?: Theme) =>
    renderComponent(withConsole(app, createElement(Tabs, { width, pane: app.tablePane })), theme)[0] ?? "";
  const show = (tab: TabId, width: number) => stripStyles(renderTabs(createApp(tab), width)).trimEnd();

  it("leave out counts first, then tabs, whose number they tell", () => {
    expect(show("locks", 118)).toMatch(/^ Overview {2}Locks 42 {2}Resources {2}.*Problems 1 {2}etcd$/);
    expect(show("hosts", 114)).toMatch(/^ Overview {2}Locks {2}Resources {2}.* {2}Problems 1 {2}etcd$/);
    expect(show("hosts", 80)).toBe(" Overview  Locks  Resources  Macros  Queues  Hosts  Groups  Drains  +5");
    expect(show("hosts", 20)).toMatch(/^\d\+ .*Hosts {2}\+7$/);
  });

  it.each([...TABS])("that fit are those around %s", (tab) => {
    for (const width of [20, 40, 60, 90]) {
      const app = createApp(tab);
      const { start, tabs, end } = fitTabs(app, width, app.tablePane);
      expect((start + tabs.map((one) => one.text).join("") + end).length).toBeLessThanOrEqual(width);
      expect(tabs.map(({ id }) => id)).toContain(isEtcdTab(tab) ? "members" : tab);
    }
  });

  it("are filled where they are active, or underlined", () => {
    const renderLocks = (theme: Theme) => renderTabs(createApp("locks"), 99, theme);
    expect(renderLocks(ansi)).toMatch(/\x1b\[4m[^L]*Locks 42/);
    expect(renderLocks(getTheme("dark", "24bit", false))).toMatch(/\x1b\[48;2;[^m]*m[^L]*Locks 42/);
  });
});

it("a part of the screen is rendered again for a frame in which it shows something else, and for no other", () => {
  let problems = 1;
  let count = 0;
  const app = createStubConsole({ getTabCounts: () => ({ problems }) });
  const Shown = () => {
    count += 1;
    return createElement(Text, {}, String(useConsole(readCounts).problems));
  };
  const shown = createElement(Box, {}, withConsole(app, createElement(Shown)));
  const { lastFrame, rerender } = render(shown);
  const publish = () => {
    app.frames.isDue = true;
    return app.frames.publish();
  };
  expect([publish(), publish(), count]).toEqual([false, false, 1]);
  problems = 2;
  expect([publish(), app.frames.publish()]).toEqual([true, false]);
  rerender(shown);
  expect([lastFrame(), count]).toEqual(["2", 2]);
});

describe("lines between panes", () => {
  it("have a title where one pane is above the other", () => {
    const props = { border: "panel", width: 20, isFocused: false } as const;
    const title = createElement(Row, { ...createRow("DETAIL "), width: 0 });
    const line = createElement(BorderLine, props, title);
    expect(renderComponent(withConsole(createStubConsole(), line))).toEqual(["- DETAIL -----------"]);
  });

  it("are as high as the panes beside them", () => {
    const line = createElement(Divider, { border: "explorer", isFocused: false });
    const beside = createElement(Box, { height: 3 }, line);
    expect(renderComponent(withConsole(createStubConsole(), beside))).toEqual(["|", "|", "|"]);
  });
});

describe("a part of the screen that fails", () => {
  const Failing = () => {
    throw new TypeError("no such \x1b[2Jrow");
  };

  it("says so in its place, without what a terminal would obey, and where in the log", () => {
    const app = createStubConsole();
    const part = createElement(PartBoundary, { app }, createElement(Failing));
    expect(renderComponent(part).map(stripStyles).join("")).toContain(
      "this part failed, a defect of signalbox: TypeError: no such row",
    );
    expect(app.log.lines.join("\n")).toMatch(/a part of the screen failed: TypeError.*panes\.test/);
  });
});

describe("the screen", () => {
  const renderScreen = (more: object = {}) =>
    renderComponent(withConsole(createStubConsole(more), createElement(Screen))).map(stripStyles);

  it("has every part in its place, and as many lines as the terminal", () => {
    const shown = renderScreen();
    expect(shown).toHaveLength(12);
    expect(shown[0]).toMatch(/^ signalbox {2}etcd1 - \/test\/ - Locks/);
    expect(shown[1]).toMatch(/^ EXPLORER {15}\| Overview {2}Locks/);
    expect(shown.at(-1)).toMatch(/^ \* ?live/);
  });

  it("says so where it is too small", () => {
    const size = { width: 30, height: 8 };
    const more = { getScreenSize: () => size, getLayout: () => undefined };
    expect(renderScreen(more)[0]).toBe("too small: 30x8; 40x10 at least");
  });
});
