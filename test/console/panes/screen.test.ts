/** The components alone: they paint the lines that they are given, where they are to stand. */
import { cleanup, render } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import type { ScreenFrame } from "../../../src/console/panes/frame.ts";
import { Screen } from "../../../src/console/panes/Screen.tsx";
import { Renderer } from "../../../src/console/renderer.tsx";

afterEach(cleanup);

/** As wide as the terminal of ink-testing-library. */
const screen = { width: 100, height: 12 };
const line = (text: string, width: number) => text.padEnd(width, ".");

function frame(more: Partial<ScreenFrame> = {}): ScreenFrame {
  return {
    ...{ screen, isBeside: false, overlays: [] },
    ...{ header: line("HEADER", 100), tabs: line("TABS", 79), status: line("STATUS", 100) },
    explorer: { width: 20, height: 6, lines: ["EXPLORER", "one", "two"] },
    table: { width: 79, height: 3, lines: ["NAME", "row 1", "row 2"] },
    detail: { width: 79, height: 2, lines: ["detail"] },
    panel: { width: 100, height: 2, lines: ["event"] },
    rules: { detail: line("DETAIL", 79), panel: line("PANEL", 100), vertical: "|" },
    ...more,
  };
}

function lines(of: ScreenFrame): string[] {
  return (render(createElement(Screen, { frame: of })).lastFrame() ?? "").split("\n");
}

describe("the screen", () => {
  it("has every part in its place, and as many lines as the terminal", () => {
    const shown = lines(frame());
    expect(shown.map((one) => one.replace(/ +$/, "").slice(0, 27))).toEqual([
      "HEADER.....................",
      "EXPLORER            |TABS..",
      "one                 |NAME",
      "two                 |row 1",
      "                    |row 2",
      "                    |DETAIL",
      "                    |detail",
      expect.any(String),
      "PANEL......................",
      "event",
      expect.any(String),
      "STATUS.....................",
    ]);
  });

  it("gives one part all of it", () => {
    const { explorer: _, detail: __, panel: ___, ...rest } = frame();
    const shown = lines({
      ...rest,
      tabs: line("TABS", 100),
      table: { width: 100, height: 9, lines: ["NAME", "row"] },
    });
    expect([shown[0], shown[1], shown[2]].map((one) => one?.slice(0, 6))).toEqual([
      "HEADER",
      "TABS..",
      "NAME",
    ]);
    expect(shown.at(-1)).toMatch(/^STATUS/);
  });

  it("stands detail beside table where there is room", () => {
    const shown = lines(
      frame({
        isBeside: true,
        table: { width: 40, height: 5, lines: ["NAME", "row"] },
        detail: { width: 38, height: 5, lines: ["detail"] },
      }),
    );
    expect(shown[2]).toMatch(/^one +\|NAME +\|detail/);
  });

  it("never wraps: what is too long is cut, what is too much is left out", () => {
    const wide = "日本".repeat(60);
    const shown = lines(
      frame({ table: { width: 79, height: 3, lines: [wide, "x".repeat(300), "row 2", "row 3"] } }),
    );
    expect(shown.length).toBe(screen.height);
    expect(shown.join("\n")).not.toContain("row 3");
    expect(shown.at(-1)).toMatch(/^STATUS/);
    expect(shown[2]).toMatch(/^one {17}\|日本.*…$/);
  });

  it("puts overlays over all, the last on top", () => {
    const first = { left: 10, top: 2, lines: ["+first+", "|.....|"] };
    const second = { left: 12, top: 3, lines: ["+second+"] };
    const shown = lines(frame({ overlays: [first, second] }));
    expect(shown[2]).toContain("+first+");
    expect(shown[3]?.slice(10, 20)).toBe("|.+second+");
  });

  it("keeps colours as they are painted, and closes them at the end of their line", () => {
    const painted = "\x1b[32mheld\x1b[39m";
    const [text = ""] = lines(frame({ header: painted }));
    expect(text.startsWith(painted)).toBe(true);
  });
});

describe("what renders it", () => {
  it("gives the lines of one frame after the other, at whatever size", () => {
    const renderer = new Renderer();
    expect(renderer.renderLines(frame()).length).toBe(12);
    const small = { width: 60, height: 10 };
    expect(renderer.renderLines({ screen: small, message: "too small" })).toEqual(["too small"]);
    expect(renderer.renderLines(frame({ header: "AGAIN" }))[0]?.trim()).toBe("AGAIN");
    renderer.end();
  });
});
