import { clean } from "../../base/text.ts";
import type { App } from "../app.ts";

/** Renders one part. If that fails, the error is shown in its place, and the other parts stay usable. */
export function renderSafely(
  app: Pick<App, "log" | "theme">,
  paint: () => readonly string[],
): readonly string[] {
  try {
    return paint();
  } catch (error) {
    app.log.add(`a part of the screen failed: ${String((error as Error)?.stack ?? error)}`);
    const { signs, style } = app.theme;
    return [
      style("problem", clean(`${signs.marks.problem}this part failed, which is a defect: ${String(error)}`)),
    ];
  }
}
