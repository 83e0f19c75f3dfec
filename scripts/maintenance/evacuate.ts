#!/usr/bin/env node
/** Empties a resource: nobody new gets it, those who are late are ended; then work on it, and let them in again. */
import { type CommandLine, printMessage, runScript, ScriptError } from "./command-line.ts";
import { createReason, formatDrainOwner, OwnDrain } from "./own-drain.ts";
import { runCommand } from "./signalbox.ts";
import { StateFile } from "./state-file.ts";

const HELP = `
Empties a resource, works on it, and opens it again.

  evacuate.ts RESOURCE [options] [-- COMMAND...]

Drains the resource and waits until nobody has a lease on it; those who still have one after --after are ended, and
waited for. Then runs COMMAND with RESOURCE in its environment, and lifts the drain. If COMMAND fails, the resource stays
drained; the same line again goes on. COMMAND of several words is run as it is, a single word is a line for the shell.

  --after DURATION  when those who remain are ended (default: 10m)
  --never-reset     end nobody: wait for --after, then exit 124; the resource stays drained
  --stay            leave it drained at the end
  --reason TEXT     shown to those who are stopped and ended
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
      `nothing was done: ${resource} is drained already, by ${formatDrainOwner(other)}`,
    );
  file.save(state);
  const howOn = `${resource} stays drained; go on with the same line, or: signalbox undrain resource ${resource}`;
  try {
    await drain.drainAndWait({ timeout: values.after as string, reset: !values["never-reset"] });
  } catch (error) {
    if (error instanceof ScriptError) printMessage(howOn);
    throw error;
  }
  printMessage(`nobody has a lease on ${resource}`);
  const code = command.length === 0 ? 0 : await runCommand(command, { RESOURCE: resource });
  if (code !== 0) throw new ScriptError(code, `the command failed (exit ${code}). ${howOn}`);
  if (values.stay)
    printMessage(`${resource} stays drained; open it with: signalbox undrain resource ${resource}`);
  else printMessage((await drain.lift()) ? `${resource} is open again` : "the drain was gone already");
  file.remove();
}
