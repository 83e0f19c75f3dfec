import { ConfigError, EXIT } from "../../../core/base/errors.ts";
import { describeConfig, resolveConfig } from "../../../core/config/config.ts";
import { findStrayVariables } from "../../../core/config/scrub.ts";
import type { CommandExecutor } from "../../frame/command.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { printResult } from "../../frame/json-output.ts";
import { renderTextTable } from "../../frame/table.ts";
import { type ContextSummary, describeContexts } from "./describe-contexts.ts";

export const showConfig: CommandExecutor<JsonFlags> = async ({ flags, settings }, io) => {
  const rows = describeConfig(resolveConfig({ flags: settings, env: io.env }));
  printResult({ flags, io }, { settings: rows }, () => renderSettings(rows));
  for (const { name, meant } of findStrayVariables(io.env)) {
    io.writeMessage(`note: unknown setting ${name}${meant === undefined ? "" : `; did you mean ${meant}?`}`);
  }
  return EXIT.ok;
};

function renderSettings(rows: ReturnType<typeof describeConfig>): string {
  const cells = rows.map(({ key, value, source }) => [key, value, source]);
  return renderTextTable(["SETTING", "VALUE", "SOURCE"], cells);
}

export const printContexts: CommandExecutor<JsonFlags> = async ({ flags, settings }, io) => {
  const contexts = describeContexts({ settings, env: io.env });
  if (contexts.length === 0 && !flags.json)
    io.writeMessage("the configuration has no contexts; see: signalbox context list --help");
  else
    printResult({ flags, io }, { contexts: contexts.map(toJson) }, () =>
      renderTextTable(["CONTEXT", "ACTIVE", "ENDPOINTS", "PREFIX", "NOTE"], contexts.map(toRow)),
    );
  return EXIT.ok;
};

function toRow({ name, isActive, config }: ContextSummary): string[] {
  const mark = isActive ? "yes" : "";
  if ("fault" in config) return [name, mark, "", "", `cannot be used: ${config.fault}`];
  const { endpoints, prefix, readOnly } = config.values;
  return [name, mark, endpoints.join(","), prefix, readOnly ? "read-only" : ""];
}

function toJson({ name, isActive, files, config }: ContextSummary): object {
  if ("fault" in config) return { name, active: isActive, files, fault: config.fault };
  const { endpoints, prefix, readOnly } = config.values;
  return { name, active: isActive, files, endpoints, prefix, readOnly };
}

export const showContext: CommandExecutor<JsonFlags> = async ({ args: [name], flags, settings }, io) => {
  const chosen = name === undefined ? settings : { ...settings, context: name };
  const config = resolveConfig({ flags: chosen, env: io.env });
  const { context } = config.values;
  if (context === undefined)
    throw new ConfigError(
      "no context is active; name one of: " +
        (config.contexts.map((one) => one.name).join(", ") || "(the configuration has no contexts)"),
    );
  const rows = describeConfig(config).filter(({ source }) => source !== "default");
  printResult({ flags, io }, { context, settings: rows }, () => renderSettings(rows));
  return EXIT.ok;
};
