import type { CommandExecutor } from "../../frame/command.ts";
import { executeRun, withOpenRun } from "./execute-run.ts";
import type { RunFlags } from "./run.ts";

export const execute: CommandExecutor<RunFlags> = async (call, io) => {
  if (!call.flags["dry-run"]) return (await executeRun({ call, startsAgent: true }, io)).code;
  const { printRunPreview } = await import("./run.preview.ts");
  return await withOpenRun({ call }, io, (ports, request) => printRunPreview(ports, request, call, io));
};
