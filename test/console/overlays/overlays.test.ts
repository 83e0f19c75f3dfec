/** The frame of overlays, and the stack of them. */
import { Box } from "ink";
import { cleanup } from "ink-testing-library";
import { type ComponentProps, createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { renderComponent } from "../../../fixtures/console/render-component.ts";
import { createStubConsole, withConsole } from "../../../fixtures/console/stub-console.ts";
import { OverlayFrame, OverlayHost, useKeys } from "../../../src/console/overlays/OverlayFrame.tsx";
import { createRow } from "../../../src/console/theme/Row.tsx";
import { getTheme, type Theme } from "../../../src/console/theme/theme.ts";
import { stripStyles } from "../../../src/core/base/text.ts";

afterEach(cleanup);

const FRAME: ComponentProps<typeof OverlayFrame> = {
  title: "drain host web1",
  rows: [createRow("first"), createRow("second", "quiet")],
  hints: [["Enter", "do it"]],
  escape: "cancel",
  width: 30,
  at: { column: 0, row: -1 },
};

const mono = getTheme("mono", "16", true);

/** Renders overlays on an empty screen. */
function render(frames: readonly Partial<ComponentProps<typeof OverlayFrame>>[], theme: Theme = mono) {
  const app = createStubConsole();
  for (const frame of frames) app.overlays.open(createElement(OverlayFrame, { ...FRAME, ...frame }));
  const host = createElement(OverlayHost, { screen: { width: 60, height: 12 } });
  return renderComponent(withConsole(app, createElement(Box, { width: 60, height: 12 }, host)), theme);
}

const renderOne = (frame: Partial<ComponentProps<typeof OverlayFrame>> = {}, theme = mono) =>
  render([frame], theme).filter((line) => line !== "");

describe("the frame of an overlay", () => {
  it("has its rows within it, with keys at the bottom", () => {
    expect(renderOne().map(stripStyles)).toEqual([
      "+- drain host web1 --------------+",
      "| first                          |",
      "| second                         |",
      "+- Enter do it  Esc cancel ------+",
    ]);
  });

  it("cuts what is wider, also within a wide letter", () => {
    const rows = [createRow("x".repeat(40), "held"), createRow("日本".repeat(9))];
    const lines = renderOne({ rows }, getTheme("mono", "16", false)).map(stripStyles);
    expect(lines.slice(1, 3)).toEqual([`│ ${"x".repeat(29)}… │`, `│ ${"日本".repeat(7)}…${" "} │`]);
  });

  it("has no keys where there is no room for them", () => {
    const lines = renderOne({ width: 12 }).map(stripStyles);
    expect(lines.at(-1)).toBe("+--------------+");
    expect(lines[0]).toBe("+- drain host… +");
  });

  it("warns with its colour", () => {
    const renderEdge = (tone: "plain" | "danger") => renderOne({ tone }, getTheme("ansi", "16", true))[0];
    expect(renderEdge("danger")).toContain("\x1b[31m");
    expect(renderEdge("plain")).not.toContain("\x1b[31m");
  });

  it("is where it belongs, and the last one is on top", () => {
    const shown = render([
      { title: "first", width: 10, rows: [createRow("a")], at: { column: 10, row: 1 } },
      { title: "second", width: 10, rows: [createRow("b")], at: { column: 12, row: 2 } },
    ]).map(stripStyles);
    expect(shown[2]?.slice(10)).toMatch(/^\+- first -+\+/);
    expect(shown[3]?.slice(10)).toMatch(/^\| \+- second -+\+/);
    const middle = render([{ at: "middle" }]).map(stripStyles);
    expect(middle.findIndex((line) => line.includes("+- drain"))).toBe(4);
    expect(middle[4]?.indexOf("+")).toBe(13);
  });
});

it("the stack of overlays gives keys to the top one, and texts to those who read them", () => {
  const app = createStubConsole();
  const pressed: string[] = [];
  const Pressed = ({ name }: { name: string }) => {
    useKeys({ escape: () => pressed.push(name) });
    return createElement(OverlayFrame, { ...FRAME, title: name });
  };
  const low = app.overlays.open(createElement(Pressed, { name: "low" }));
  app.overlays.open(createElement(Pressed, { name: "high" }));
  renderComponent(withConsole(app, createElement(OverlayHost, { screen: { width: 60, height: 12 } })));
  const key = { kind: "key", chord: "escape" } as const;
  app.overlays.handleInput(key);
  expect(pressed).toEqual(["high"]);
  expect(app.overlays.text?.title).toBe("high");
  app.overlays.open(null); // one that shows nothing and handles nothing
  app.overlays.handleInput(key);
  expect(app.overlays.all).toHaveLength(2);
  app.overlays.close(low);
  app.overlays.handleInput(key);
  expect(pressed).toEqual(["high"]);
  expect(app.overlays.text).toBeUndefined();
});
