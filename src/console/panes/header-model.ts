import { cleanToWidth } from "../../base/display-width.ts";
import { formatPastTime } from "../data/past-text.ts";
import type { ClockAccess, DataAccess, SettingsAccess, ThemeAccess } from "../parts/parts.ts";
import { type BarModel, buildBar } from "./bar-model.ts";

const USUAL_PREFIX = "/signalbox/";

/** Builds the header: which cluster this is, and whether anything can be changed. */
export function buildHeaderModel(
  app: ClockAccess & DataAccess & SettingsAccess & ThemeAccess,
  width: number,
): BarModel {
  const { theme, context, isReadOnly } = app;
  const { endpoints, prefix, context: name } = context.settings;
  const hosts = endpoints.map((endpoint) => cleanToWidth(endpoint.replace(/^https?:\/\//, ""), 40)).join(",");
  const where = prefix === USUAL_PREFIX ? "" : ` ${theme.signs.dot} ${cleanToWidth(prefix, 40)}`;
  return buildBar(
    width,
    [
      { text: " signalbox ", role: "barName", weight: 1 },
      {
        text: name === undefined ? "" : ` ${cleanToWidth(name, 40)} ${theme.signs.dot}`,
        role: "bar",
        weight: 1,
      },
      { text: ` ${hosts}`, role: "bar", weight: 2 },
      { text: where, role: "bar", weight: 3 },
    ],
    [
      { text: formatPastBadge(app), role: "barPast", weight: 1 },
      { text: isReadOnly ? " READ-ONLY " : "", role: "badgeReadOnly", weight: 1 },
      {
        text: ` ${cleanToWidth(context.operator.user, 30)}@${cleanToWidth(context.facts.host, 40)} `,
        role: "bar",
        weight: 4,
      },
    ],
    "bar",
  );
}

/** Marks the past clearly: everything below is about that time. */
function formatPastBadge(app: ClockAccess & DataAccess & ThemeAccess): string {
  const { past } = app.liveView;
  if (past === undefined) return "";
  const time =
    past.from === undefined && past.until === undefined
      ? `rev ${past.revision}`
      : formatPastTime(past.at, app.getPresentTime());
  return ` PAST ${time} ${app.theme.signs.dot} read-only `;
}
