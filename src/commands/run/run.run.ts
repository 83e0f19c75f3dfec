import type { Execute } from "../spec.ts";
import { prepared, runErrand } from "./errand.ts";

export const execute: Execute = async (call, world) => {
  if (!call.flags["dry-run"]) return (await runErrand({ call }, world)).code;
  const { show } = await import("./run.preview.ts");
  return await prepared({ call }, world, (ports, request) => show(ports, request, call, world));
};
