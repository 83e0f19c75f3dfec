import { EXIT } from "../../../core/base/errors.ts";
import { findLaunchedRun, HOOKS_VARIABLE } from "../../frame/call-note.ts";
import type { CommandExecutor } from "../../frame/command.ts";
import { executeRun, withOpenRun } from "./execute-run.ts";
import type { RunFlags } from "./run.ts";

export const execute: CommandExecutor<RunFlags> = async (call, io) => {
  const { [HOOKS_VARIABLE]: hooks } = io.env;
  if (hooks !== undefined && findLaunchedRun(io) === undefined) {
    const { callLaunchedHooks } = await import("./launched-hooks.impl.ts");
    if (await callLaunchedHooks(hooks, call, io)) return EXIT.ok;
  }
  if (!call.flags["dry-run"]) return (await executeRun({ call, startsAgent: true }, io)).code;
  const { printRunPreview } = await import("./run.preview.ts");
  return await withOpenRun({ call }, io, (ports, request) => printRunPreview(ports, request, call, io));
};
