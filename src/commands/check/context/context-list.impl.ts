import { EXIT } from "../../../base/errors.ts";
import { formatJsonDocument } from "../../json-output.ts";
import type { CommandExecutor } from "../../spec.ts";
import { renderTextTable } from "../../table.ts";
import { type ContextSummary, describeContexts } from "../describe-contexts.ts";

export const execute: CommandExecutor = async ({ flags, settings }, io) => {
  const contexts = describeContexts({ settings, env: io.env });
  if (flags.json) io.writeOutput(formatJsonDocument({ contexts: contexts.map(toJson) }));
  else if (contexts.length === 0)
    io.writeMessage("the configuration has no contexts; see: signalbox context list --help");
  else
    io.writeOutput(
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
