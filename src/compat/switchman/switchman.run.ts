import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { VERSION } from "../../base/version.ts";
import { explained } from "../../commands/perform.ts";
import { runErrand } from "../../commands/run/errand.ts";
import type { Execute, Surroundings } from "../../commands/spec.ts";
import { parseSwitchman, type SwitchmanCall } from "../../fleet/switchman-words.ts";
import { DIED } from "./codes.ts";
import { readConfig } from "./config-file.ts";
import { declaration } from "./declaration.ts";
import { errandOf } from "./errand.ts";
import { SwitchmanLog } from "./log.ts";
import { failureCode, resultCode } from "./result.ts";

/** The version whose ways these are. */
const LIKE = "1.16";

export const execute: Execute = async ({ args }, world) => {
  try {
    const call = parseSwitchman(args);
    return call.asks === undefined ? await perform(call, world) : await answer(call.asks, world);
  } catch (error) {
    world.err(`switchman: ${clean(explained(error).message.replace(/^switchman: /, ""))}\n`);
    return DIED;
  }
};

/** Help and the version end with 1, as they do in Perl's Pod::Usage. */
async function answer(asks: "help" | "version", world: Surroundings): Promise<number> {
  const { commandHelp, helpColumns } = await import("../../commands/help.ts");
  if (asks === "help") world.out(commandHelp(declaration, helpColumns(world.terminal)));
  else world.out(`switchman ${LIKE} (signalbox ${VERSION})\n`);
  return EXIT.undone;
}

async function perform(call: SwitchmanCall, world: Surroundings): Promise<number> {
  const config = readConfig(call.config);
  const { logfile: file, loglevel: level } = config;
  const { DEBUG = "" } = world.env;
  const isDebugging = DEBUG !== "" && DEBUG !== "0";
  const log = new SwitchmanLog({ file, level, isDebugging, err: world.err });
  const stop = world.onSignal((name) => tellSignal(name, log, world));
  try {
    return resultCode(await runErrand(errandOf(call, config, log, world.env), world), call, log);
  } catch (error) {
    return failureCode(error, call, log);
  } finally {
    stop();
  }
}

/** As Perl's `warn` has it: without a date. */
function tellSignal(name: NodeJS.Signals, { child }: SwitchmanLog, world: Surroundings): void {
  if (child === undefined || (name !== "SIGTERM" && name !== "SIGINT")) return;
  world.err(`Parent received ${name}, terminating child ${child}\nSent ${name} to ${child}\n`);
}
