import { clean } from "../../base/text.ts";
import type { LogAccess, ThemeAccess } from "../parts/parts.ts";
import { createRow, type RowModel } from "../theme/cells.ts";

/**
 * Builds one part of the screen. If that fails, the error is shown in its place, and the other parts stay usable.
 * @param replace  builds the part from a row with the error
 */
export function buildSafely<T>(
  app: Pick<LogAccess, "log"> & ThemeAccess,
  build: () => T,
  replace: (row: RowModel) => T,
): T {
  try {
    return build();
  } catch (error) {
    app.log.add(`a part of the screen failed: ${String((error as Error)?.stack ?? error)}`);
    const text = `${app.theme.signs.marks.problem}this part failed, a defect of signalbox: ${String(error)}`;
    return replace(createRow(clean(text), "problem"));
  }
}
