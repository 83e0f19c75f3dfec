#!/usr/bin/env node
/** Empties a resource: drains it, ends the remaining runs, runs a command, and undrains it. */
import { type CommandLine, printMessage, runScript, ScriptError } from "./command-line.ts";
import { createReason, formatDrainOwner, OwnDrain } from "./own-drain.ts";
import { runCommand } from "./signalbox.ts";
import { StateFile } from "./state-file.ts";

const HELP = `
Empties a resource, runs a command, and makes the resource available again.

  evacuate.mjs RESOURCE [options] [-- COMMAND...]

Drains the resource and waits until no run has a lease on it. After --after, it ends the remaining runs and waits for
them. Then it runs COMMAND with the variable RESOURCE set, and undrains the resource. If COMMAND fails, the resource stays
drained; run the same line again to continue. If COMMAND is a single word, the shell runs it; several words run directly.

  --after DURATION  time until the remaining runs are ended (default: 10m)
  --never-reset     end no runs: wait for --after, then exit with 124; the resource stays drained
  --stay            leave the resource drained at the end
  --reason TEXT     reason that the affected runs show
  --help

signalbox is taken from PATH, or from SIGNALBOX=/path/to/signalbox.
`;

interface State {
  reason: string;
}

await runScript(
  {
    help: HELP,
    takes: 1,
    options: {
      after: { type: "string", default: "10m" },
      "never-reset": { type: "boolean" },
      stay: { type: "boolean" },
      reason: { type: "string" },
    },
  },
  evacuate,
);

async function evacuate({ values, args: [resource = ""], command }: CommandLine): Promise<void> {
  const file = new StateFile<State>(`evacuate ${resource}`);
  file.acquire();
  const what = typeof values.reason === "string" ? values.reason : `evacuation of ${resource}`;
  const state = file.load() ?? { reason: createReason(what) };
  const drain = new OwnDrain(["resource", resource], state.reason);
  const { own, other } = await drain.readDrains();
  if (own === undefined && other !== undefined)
    throw new ScriptError(
      75,
      `nothing was changed: ${resource} is already drained by ${formatDrainOwner(other)}`,
    );
  file.save(state);
  const howOn = `${resource} stays drained; run the same line again to continue, or: signalbox undrain resource ${resource}`;
  try {
    await drain.drainAndWait({ timeout: values.after as string, reset: !values["never-reset"] });
  } catch (error) {
    if (error instanceof ScriptError) printMessage(howOn);
    throw error;
  }
  printMessage(`no run has a lease on ${resource}`);
  const code = command.length === 0 ? 0 : await runCommand(command, { RESOURCE: resource });
  if (code !== 0) throw new ScriptError(code, `the command failed (exit ${code}). ${howOn}`);
  if (values.stay)
    printMessage(`${resource} stays drained; to undrain it: signalbox undrain resource ${resource}`);
  else printMessage((await drain.lift()) ? `${resource} is available again` : "the drain was already lifted");
  file.remove();
}
