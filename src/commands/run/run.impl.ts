import type { CommandExecutor } from "../spec.ts";
import { executeRun, prepareInvocation } from "./run-invocation.ts";

export const execute: CommandExecutor = async (call, io) => {
  if (!call.flags["dry-run"]) return (await executeRun({ call }, io)).code;
  const { printRunPreview } = await import("./run.preview.ts");
  return await prepareInvocation({ call }, io, (ports, request) => printRunPreview(ports, request, call, io));
};
