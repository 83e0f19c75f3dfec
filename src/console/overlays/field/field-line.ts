import { padToWidth, type Theme } from "../../theme/theme.ts";
import type { TextField } from "./field.ts";
import { computeFieldWindow } from "./field-window.ts";

/** Renders a field: as much of it as fits, with the cursor in view. @param width  columns */
export function renderField(theme: Theme, field: TextField, width: number, isActive = true): string {
  const { before, at, after } = computeFieldWindow(field, width);
  const cursor = isActive ? theme.style("cursor", at === "" ? " " : at) : at === "" ? " " : at;
  return theme.style("field", padToWidth(before + cursor + after, width));
}
