import { EXIT } from "../../base/errors.ts";
import { describeConfig, resolveConfig } from "../../config/config.ts";
import { findStrayVariables } from "../../config/scrub.ts";
import { formatJsonDocument } from "../json-output.ts";
import type { CommandExecutor } from "../spec.ts";
import { renderTextTable } from "../table.ts";

export const execute: CommandExecutor = async ({ flags, settings }, io) => {
  const rows = describeConfig(resolveConfig({ flags: settings, env: io.env }));
  if (flags.json) io.writeOutput(formatJsonDocument({ settings: rows }));
  else
    io.writeOutput(
      renderTextTable(
        ["SETTING", "VALUE", "SOURCE"],
        rows.map(({ key, value, source }) => [key, value, source]),
      ),
    );
  for (const { name, meant } of findStrayVariables(io.env)) {
    io.writeMessage(`note: unknown setting ${name}${meant === undefined ? "" : `; did you mean ${meant}?`}`);
  }
  return EXIT.ok;
};
