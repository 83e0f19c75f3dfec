import type { Field } from "../field/field.ts";
import { window as windowOf } from "../field/window.ts";
import { padTo, type Theme } from "../theme/theme.ts";

/** A field as it is painted: as much of it as fits, with the cursor in it. @param width  columns */
export function fieldLine(theme: Theme, field: Field, width: number, isActive = true): string {
  const { before, at, after } = windowOf(field, width);
  const cursor = isActive ? theme.style("cursor", at === "" ? " " : at) : at === "" ? " " : at;
  return theme.style("field", padTo(before + cursor + after, width));
}
