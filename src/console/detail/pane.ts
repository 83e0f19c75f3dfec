import { detailLines } from "../../commands/see/detail.ts";
import type { App } from "../app/app.ts";
import type { Size } from "../frame/layout.ts";

/** Everything about what is selected, scrolled to where it was. */
export function detailPane(app: App, { width, height }: Size): string[] {
  const lines = detailText(app, width - 2);
  const top = Math.max(0, Math.min(app.state.detail.top, lines.length - height));
  const shown = lines.slice(top, top + height).map((line) => ` ${line}`);
  const left = lines.length - top - height;
  if (left <= 0) return shown;
  const more = app.theme.style("quiet", ` ${app.theme.signs.ellipsis} ${left + 1} more lines`);
  return [...shown.slice(0, -1), more];
}

/** The lines of the detail, all of them. */
export function detailText(app: App, width: number): string[] {
  const detail = app.detail();
  if (detail === undefined) return [app.theme.style("quiet", "nothing is selected")];
  return detailLines(detail, app.theme.look(width));
}
