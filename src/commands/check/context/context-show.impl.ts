import { ConfigError, EXIT } from "../../../base/errors.ts";
import { describeConfig, resolveConfig } from "../../../config/config.ts";
import { formatJsonDocument } from "../../json-output.ts";
import type { CommandExecutor } from "../../spec.ts";
import { renderTextTable } from "../../table.ts";

export const execute: CommandExecutor = async ({ args: [name], flags, settings }, io) => {
  const chosen = name === undefined ? settings : { ...settings, context: name };
  const config = resolveConfig({ flags: chosen, env: io.env });
  const { context } = config.values;
  if (context === undefined)
    throw new ConfigError(
      "no context is active; name one of: " +
        (config.contexts.map((one) => one.name).join(", ") || "(the configuration has no contexts)"),
    );
  const rows = describeConfig(config).filter(({ source }) => source !== "default");
  if (flags.json) io.writeOutput(formatJsonDocument({ context, settings: rows }));
  else
    io.writeOutput(
      renderTextTable(
        ["SETTING", "VALUE", "SOURCE"],
        rows.map(({ key, value, source }) => [key, value, source]),
      ),
    );
  return EXIT.ok;
};
