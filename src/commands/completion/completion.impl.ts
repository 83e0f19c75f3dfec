import { EXIT } from "../../base/errors.ts";
import type { CommandExecutor } from "../spec.ts";
import { SCRIPTS } from "./scripts.ts";

export const execute: CommandExecutor = async ({ args: [shell = ""] }, io) => {
  io.writeOutput(SCRIPTS[shell] ?? "");
  return EXIT.ok;
};
