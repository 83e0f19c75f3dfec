import type { MouseEvent } from "./event.ts";

const BUTTONS = ["left", "middle", "right", "none"] as const;

/** Parses `CSI < BUTTON;COLUMN;ROW M`, or `m` for a release. */
export function parseMouseEvent(parameters: string, final: string): MouseEvent | undefined {
  const match = /^(\d{1,3});(\d{1,5});(\d{1,5})$/.exec(parameters);
  if (match === null || (final !== "M" && final !== "m")) return undefined;
  const [code = 0, column = 0, row = 0] = match.slice(1).map(Number);
  const position = { kind: "mouse" as const, column: Math.max(0, column - 1), row: Math.max(0, row - 1) };
  if ((code & 128) !== 0) return undefined; // additional buttons, which are ignored
  if ((code & 64) !== 0) return createWheelEvent(code & 3, position);
  const button = BUTTONS[code & 3] ?? "none";
  const action = final === "m" ? "release" : (code & 32) !== 0 ? "drag" : "press";
  return { ...position, action, button };
}

/** Creates the event of a wheel turn up or down. Horizontal turns are ignored. */
function createWheelEvent(
  which: number,
  position: Pick<MouseEvent, "kind" | "column" | "row">,
): MouseEvent | undefined {
  if (which > 1) return undefined;
  return { ...position, action: which === 0 ? "wheel-up" : "wheel-down", button: "none" };
}
