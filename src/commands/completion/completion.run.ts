import { EXIT } from "../../base/errors.ts";
import type { Execute } from "../spec.ts";
import { SCRIPTS } from "./scripts.ts";

export const execute: Execute = async ({ args: [shell = ""] }, world) => {
  world.out(SCRIPTS[shell] ?? "");
  return EXIT.ok;
};
