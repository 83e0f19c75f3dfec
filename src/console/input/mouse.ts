import type { MouseEvent } from "./event.ts";

const BUTTONS = ["left", "middle", "right", "none"] as const;

/** `CSI < BUTTON;COLUMN;ROW M`, or `m` where a button was let go. */
export function mouseEvent(parameters: string, final: string): MouseEvent | undefined {
  const match = /^(\d{1,3});(\d{1,5});(\d{1,5})$/.exec(parameters);
  if (match === null || (final !== "M" && final !== "m")) return undefined;
  const [code = 0, column = 0, row = 0] = match.slice(1).map(Number);
  const place = { kind: "mouse" as const, column: Math.max(0, column - 1), row: Math.max(0, row - 1) };
  if ((code & 128) !== 0) return undefined; // buttons that few have
  if ((code & 64) !== 0) return wheel(code & 3, place);
  const button = BUTTONS[code & 3] ?? "none";
  const action = final === "m" ? "release" : (code & 32) !== 0 ? "drag" : "press";
  return { ...place, action, button };
}

/** Up and down; to the sides is nothing here. */
function wheel(which: number, place: Pick<MouseEvent, "kind" | "column" | "row">): MouseEvent | undefined {
  if (which > 1) return undefined;
  return { ...place, action: which === 0 ? "wheel-up" : "wheel-down", button: "none" };
}
