import { UsageError } from "../../base/errors.ts";
import type { LineTranslator } from "../translated-run.ts";

/** Refuses tools that take a lock for the commands after them, until another command removes the file. */
export const refuseTwoStepTool: LineTranslator = (_words, _variables, _files, program = "it") => {
  throw new UsageError(
    `${program} takes a lock for the commands after it; put these commands into a script: signalbox run --lock NAME -- SCRIPT`,
  );
};
