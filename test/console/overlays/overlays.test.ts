/** The frame and the content of overlays. */
import { Box } from "ink";
import { cleanup } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { stripStyles } from "../../../src/base/text.ts";
import { OverlayBox } from "../../../src/console/panes/boxes.tsx";
import type { OverlayContent, OverlayModel } from "../../../src/console/parts/overlay.ts";
import { listContentRows } from "../../../src/console/parts/overlay.ts";
import { createRow, joinCellTexts } from "../../../src/console/theme/cells.ts";
import { getTheme, type Theme } from "../../../src/console/theme/theme.ts";
import { renderComponent } from "../panes/render-component.ts";

afterEach(cleanup);

const CONTENTS: Record<OverlayContent["kind"], OverlayContent> = {
  text: { kind: "text", rows: [createRow("first"), createRow("second", "quiet")] },
  filter: {
    kind: "filter",
    row: {
      cells: [
        { text: "/ ", role: "key" },
        { text: "web1", role: "field" },
      ],
    },
  },
  palette: {
    kind: "palette",
    field: createRow("dr", "field"),
    matches: [{ ...createRow("drain"), selection: "focused" }, createRow("undrain")],
    notes: [createRow("17 found", "quiet")],
  },
  dialog: {
    kind: "dialog",
    preview: [createRow("it would drain host web1"), createRow("2 are held there")],
    fields: [createRow("> reason  upgrade")],
    command: createRow("-> signalbox drain host web1"),
    confirmation: [createRow("> type web1 to confirm", "danger"), createRow("  we", "field")],
    faults: [createRow("! type web1 to confirm", "problem")],
  },
};

function buildModel(content: OverlayContent, more: Partial<OverlayModel> = {}): OverlayModel {
  const hints = [
    ["Enter", "do it"],
    ["Esc", "cancel"],
  ] as const;
  return { title: "drain host web1", content, hints, width: 30, at: "middle", ...more };
}

/** Renders an overlay on an empty screen, which is as high as the overlay. */
function renderBox(model: OverlayModel, theme: Theme): string[] {
  const box = createElement(OverlayBox, { left: 0, top: 0, model });
  const height = listContentRows(model.content).length + 2;
  return renderComponent(createElement(Box, { height }, box), theme);
}

function render(model: OverlayModel, theme = getTheme("mono", "16", true)): string[] {
  return renderBox(model, theme).map(stripStyles);
}

describe.each(Object.values(CONTENTS))("an overlay of the kind $kind", (content) => {
  it("has every row of its content in its frame, in order, with keys at the bottom", () => {
    const lines = render(buildModel(content));
    expect(lines[0]).toBe("+- drain host web1 --------------+");
    expect(lines.at(-1)).toBe("+- Enter do it  Esc cancel ------+");
    const inner = listContentRows(content).map(({ cells }) => `| ${joinCellTexts(cells).padEnd(30)} |`);
    expect(lines.slice(1, -1)).toEqual(inner);
  });
});

describe("the frame of an overlay", () => {
  const long = {
    kind: "text",
    rows: [createRow(`${"x".repeat(40)}`, "held"), createRow("日本".repeat(9))],
  } as const;

  it("cuts what is wider, also within a wide letter", () => {
    const lines = render(buildModel(long), getTheme("mono", "16", false));
    expect(lines.slice(1, 3)).toEqual([`│ ${"x".repeat(29)}… │`, `│ ${"日本".repeat(7)}…${" "} │`]);
  });

  it("has no keys where there is no room for them", () => {
    expect(render(buildModel(CONTENTS.text, { width: 12 })).at(-1)).toBe("+--------------+");
    expect(render(buildModel(CONTENTS.text, { width: 12 }))[0]).toBe("+- drain host … +");
  });

  it("warns with its colour", () => {
    const theme = getTheme("ansi", "16", true);
    const renderEdge = (tone: "plain" | "danger") => renderBox(buildModel(CONTENTS.text, { tone }), theme)[0];
    expect(renderEdge("danger")).toContain("\x1b[31m");
    expect(renderEdge("plain")).not.toContain("\x1b[31m");
  });
});
