import { clean } from "../../../base/text.ts";
import type { ConsoleData } from "../../parts/parts.ts";
import { type BarModel, buildBar } from "./bar-model.ts";

const USUAL_PREFIX = "/signalbox/";

/** Builds the header: which cluster this is, and whether anything can be changed. */
export function buildHeaderModel({ theme, context, isReadOnly }: ConsoleData, width: number): BarModel {
  const { endpoints, prefix } = context.settings;
  const hosts = endpoints.map((endpoint) => clean(endpoint.replace(/^https?:\/\//, ""), 40)).join(",");
  const where = prefix === USUAL_PREFIX ? "" : ` ${theme.signs.dot} ${clean(prefix, 40)}`;
  return buildBar(
    width,
    [
      { text: " signalbox ", role: "barName", weight: 1 },
      { text: ` ${hosts}`, role: "bar", weight: 2 },
      { text: where, role: "bar", weight: 3 },
    ],
    [
      { text: isReadOnly ? " READ-ONLY " : "", role: "badgeReadOnly", weight: 1 },
      {
        text: ` ${clean(context.operator.user, 30)}@${clean(context.facts.host, 40)} `,
        role: "bar",
        weight: 4,
      },
    ],
    "bar",
  );
}
