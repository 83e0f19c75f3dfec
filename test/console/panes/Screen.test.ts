/** The whole screen: positions of all parts, and nothing outside of the screen. */
import { cleanup } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { stripStyles } from "../../../src/base/text.ts";
import { Renderer } from "../../../src/console/panes/renderer.tsx";
import type { ScreenModel } from "../../../src/console/panes/Screen.tsx";
import { Screen } from "../../../src/console/panes/Screen.tsx";
import { createRow } from "../../../src/console/theme/cells.ts";
import { getTheme } from "../../../src/console/theme/theme.ts";
import { renderComponent } from "./render-component.ts";

afterEach(cleanup);

const screen = { width: 100, height: 12 };
const mono = getTheme("mono", "16", true);

function buildBar(text: string, width = 100): ScreenModel["header"] {
  return { left: [{ text: text.padEnd(width, ".") }], right: [], gap: 0, ground: "bar" };
}

function buildModel(more: Partial<ScreenModel> = {}): ScreenModel {
  return {
    screen,
    isBeside: false,
    isDetailFocused: false,
    overlays: [],
    header: buildBar("HEADER"),
    status: buildBar("STATUS"),
    tabs: { start: "", separator: "", end: "", tabs: [{ id: "locks", text: "TABS", role: "tab" }] },
    explorer: {
      width: 20,
      height: 6,
      isFocused: false,
      nodes: ["one", "two"].map((text) => ({ key: text, cells: [{ text }], selection: undefined })),
    },
    table: {
      width: 79,
      height: 3,
      notes: ["NAME", "row 1", "row 2"].map((text) => createRow(text)),
      head: undefined,
      rows: [],
    },
    detail: { width: 79, height: 2, rows: [createRow("detail")], more: 0 },
    panel: { width: 100, height: 2, rows: [createRow("event")] },
    panelTitle: { width: 100, isFocused: false, titles: [{ id: "events", text: "PANEL", isActive: true }] },
    ...more,
  };
}

const render = (model: ScreenModel) => renderComponent(createElement(Screen, { model })).map(stripStyles);

describe("the screen", () => {
  it("has every part in its place, and as many lines as the terminal", () => {
    expect(render(buildModel()).map((line) => line.slice(0, 30))).toEqual([
      "HEADER........................",
      " EXPLORER           |TABS",
      "one                 |NAME",
      "two                 |row 1",
      "                    |row 2",
      "                    |- DETAIL ",
      "                    |detail",
      "                    |",
      "- PANEL ----------------------",
      "event",
      "",
      "STATUS........................",
    ]);
  });

  it("gives one part all of it", () => {
    const { explorer: _, detail: __, panel: ___, ...rest } = buildModel();
    const table = {
      width: 100,
      height: 9,
      notes: [createRow("NAME"), createRow("row")],
      head: undefined,
      rows: [],
    };
    const shown = render({ ...rest, table });
    expect(shown.slice(0, 3).map((line) => line.slice(0, 6))).toEqual(["HEADER", "TABS", "NAME"]);
    expect(shown.at(-1)).toMatch(/^STATUS/);
  });

  it("shows the detail beside the table where there is room", () => {
    const shown = render(
      buildModel({
        isBeside: true,
        table: {
          width: 40,
          height: 5,
          notes: [createRow("NAME"), createRow("row")],
          head: undefined,
          rows: [],
        },
        detail: { width: 38, height: 5, rows: [createRow("detail")], more: 0 },
      }),
    );
    expect(shown[2]).toMatch(/^one +\|NAME +\|detail/);
  });

  it("never wraps: what is too long is cut, what is too much is left out", () => {
    const wide = "日本".repeat(60);
    const notes = [wide, "x".repeat(300), "row 2", "row 3"].map((text) => createRow(text));
    const shown = render(buildModel({ table: { width: 79, height: 3, notes, head: undefined, rows: [] } }));
    expect(shown.length).toBe(screen.height);
    expect(shown.join("\n")).not.toContain("row 3");
    expect(shown.at(-1)).toMatch(/^STATUS/);
    expect(shown[2]).toMatch(/^one {17}\|日本.*…$/);
  });

  it("puts overlays over all, the last on top", () => {
    const buildOverlay = (text: string, left: number, top: number) =>
      ({
        left,
        top,
        model: {
          title: text,
          hints: [],
          width: 10,
          at: "middle" as const,
          content: { kind: "text", rows: [createRow(text), createRow(text)] },
        },
      }) as const;
    const shown = render(
      buildModel({ overlays: [buildOverlay("first", 10, 2), buildOverlay("second", 12, 3)] }),
    );
    expect(shown[2]?.slice(10)).toMatch(/^\+- first -+\+/);
    expect(shown[3]?.slice(10)).toMatch(/^\| \+- second -+\+/);
    expect(shown[4]?.slice(10)).toMatch(/^\| \| second +\|/);
  });
});

describe("the renderer", () => {
  it("gives the lines of one frame after the other, at whatever size", () => {
    const renderer = new Renderer();
    expect(renderer.renderLines(mono, buildModel()).length).toBe(12);
    const small = { width: 60, height: 10 };
    expect(renderer.renderLines(mono, { screen: small, message: "too small" })).toEqual(["too small"]);
    expect(renderer.renderLines(mono, buildModel({ header: buildBar("AGAIN", 5) }))[0]?.trim()).toBe("AGAIN");
    renderer.end();
  });

  it("follows the theme", () => {
    const renderer = new Renderer();
    const model = buildModel({
      status: { left: [{ text: "held", role: "held" }], right: [], gap: 0, ground: "bar" },
    });
    expect(renderer.renderLines(mono, model).at(-1)).toBe("held");
    const dark = getTheme("dark", "24bit", false);
    expect(renderer.renderLines(dark, model).at(-1)).toBe(dark.style("held", "held"));
    renderer.end();
  });
});
