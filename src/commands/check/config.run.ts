import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { describeConfig, resolveConfig } from "../../config/config.ts";
import { strayVariables } from "../../config/scrub.ts";
import type { Execute } from "../spec.ts";
import { json, table } from "../table.ts";

export const execute: Execute = async ({ flags, settings }, world) => {
  const rows = describeConfig(resolveConfig({ flags: settings, env: world.env }));
  if (flags.json) world.out(json({ settings: rows }));
  else
    world.out(
      table(
        ["SETTING", "VALUE", "SOURCE"],
        rows.map(({ key, value, source }) => [key, value, source]),
      ),
    );
  for (const { name, meant } of strayVariables(world.env)) {
    world.err(
      `signalbox: note: ${clean(name)} is no setting${meant === undefined ? "" : `; did you mean ${meant}?`}\n`,
    );
  }
  return EXIT.ok;
};
