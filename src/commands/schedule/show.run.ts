import type { Execute } from "../spec.ts";

/** The other way to say `show schedule KEY`. */
export const execute: Execute = async (call, world) => {
  const show = await import("../see/show.run.ts");
  return await show.execute({ ...call, args: ["schedule", ...call.args] }, world);
};
