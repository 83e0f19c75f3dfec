import { render } from "ink-testing-library";
import { createElement, type ReactNode } from "react";
import { ThemeContext } from "../../../src/console/theme/Row.tsx";
import { getTheme, setColourDepth, type Theme } from "../../../src/console/theme/theme.ts";

/** A theme with ASCII symbols and without colours, so that the output is plain text. */
const plain = getTheme("mono", "16", true);

/** The columns of the terminal of ink-testing-library. */
export const WIDTH = 100;

/** Renders a component as lines, without the blanks at their ends. */
export function renderComponent(node: ReactNode, theme: Theme = plain): string[] {
  setColourDepth(theme);
  const { lastFrame } = render(createElement(ThemeContext, { value: theme }, node));
  return (lastFrame() ?? "").split("\n").map((line) => line.trimEnd());
}

/** Renders a component as one text, with its styles. */
export function renderStyled(node: ReactNode, theme: Theme): string {
  return renderComponent(node, theme).join("\n");
}
