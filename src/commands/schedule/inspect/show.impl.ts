import type { CommandExecutor } from "../../spec.ts";

/** Implements `schedule show KEY` as `show schedule KEY`. */
export const execute: CommandExecutor = async (call, io) => {
  const show = await import("../../see/show.impl.ts");
  return await show.execute({ ...call, args: ["schedule", ...call.args] }, io);
};
