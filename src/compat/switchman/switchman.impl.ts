import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { VERSION } from "../../base/version.ts";
import { explainError } from "../../commands/explain-error.ts";
import { executeRun } from "../../commands/run/execute-run.ts";
import type { CommandExecutor, CommandIo } from "../../commands/spec.ts";
import { parseSwitchman, type SwitchmanCall } from "../../syntax/switchman-call.ts";
import { DIED } from "./codes.ts";
import { readSwitchmanConfig } from "./config-file.ts";
import { declaration } from "./declaration.ts";
import { SwitchmanLog } from "./log.ts";
import { reportSwitchmanFailure, reportSwitchmanResult } from "./result.ts";
import { buildSwitchmanRequest } from "./run-request.ts";

/** The version of switchman that is emulated. */
const LIKE = "1.16";

export const execute: CommandExecutor = async ({ args }, world) => {
  try {
    const call = parseSwitchman(args);
    return call.asks === undefined
      ? await runSwitchman(call, world)
      : await printHelpOrVersion(call.asks, world);
  } catch (error) {
    world.writeError(`switchman: ${clean(explainError(error).message.replace(/^switchman: /, ""))}\n`);
    return DIED;
  }
};

/** Prints the help or the version. Both end with exit code 1, as in Perl's Pod::Usage. */
async function printHelpOrVersion(asks: "help" | "version", world: CommandIo): Promise<number> {
  const { renderCommandHelp, computeHelpWidth } = await import("../../commands/command-line/help.ts");
  if (asks === "help") world.writeOutput(renderCommandHelp(declaration, computeHelpWidth(world.terminal)));
  else world.writeOutput(`switchman ${LIKE} (signalbox ${VERSION})\n`);
  return EXIT.undone;
}

async function runSwitchman(call: SwitchmanCall, world: CommandIo): Promise<number> {
  const config = readSwitchmanConfig(call.config);
  const { logfile: file, loglevel: level } = config;
  const { DEBUG = "" } = world.env;
  const isDebugging = DEBUG !== "" && DEBUG !== "0";
  const log = new SwitchmanLog({ file, level, isDebugging, writeStderr: world.writeError });
  const stop = world.onSignal((name) => log.reportSignal(name));
  try {
    return reportSwitchmanResult(
      await executeRun(buildSwitchmanRequest(call, config, log, world.env), world),
      call,
      log,
    );
  } catch (error) {
    return reportSwitchmanFailure(error, call, log);
  } finally {
    stop();
  }
}
