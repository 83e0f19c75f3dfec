import { UsageError } from "../../base/errors.ts";
import type { LineTranslator } from "../translated-run.ts";

/** Refuses tools that take a lock for the commands after them, until another command removes the file. */
export const refuseTwoStepTool: LineTranslator = (_words, _variables, _files, program = "it") => {
  throw new UsageError(
    `${program} takes a lock for the commands after it; put these commands into a script: signalbox run --lock NAME -- SCRIPT`,
  );
};

/**
 * Refuses run-this-one, which ends the running command and starts it again: several hosts would end each other's
 * commands.
 */
export const refuseRunThisOne: LineTranslator = () => {
  throw new UsageError(
    "run-this-one: it ends the previous run and starts its own; lines on several hosts would end each other's runs. By" +
      " hand, if one host has the line: signalbox reset lock NAME --yes; signalbox run --lock NAME --wait -- COMMAND. Or a" +
      " schedule with --overlap replace",
  );
};

/** Refuses tools that start the command again and again. */
export const refuseKeepRunning: LineTranslator = () => {
  throw new UsageError(
    "run-one: it restarts the command whenever it ends, which is the job of a service manager: systemd with Restart=, and" +
      " ExecStart=signalbox run --lock NAME --wait -- COMMAND",
  );
};
