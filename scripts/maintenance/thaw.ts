#!/usr/bin/env node
/** Lifts the drain of freeze.mjs, and no other drain. */
import { printMessage, runScript, ScriptError } from "./command-line.ts";
import { FREEZE_FILE } from "./freeze-state.ts";
import { formatDrainOwner, OwnDrain } from "./own-drain.ts";

const HELP = `
Lifts the drain that freeze.mjs created.

  thaw.mjs

Queues continue in their order. Drains of other users stay. The exit code is 1 if there is no freeze of this user on this
host.

signalbox is taken from PATH, or from SIGNALBOX=/path/to/signalbox.
`;

await runScript({ help: HELP, takes: 0, options: {} }, async () => {
  FREEZE_FILE.acquire();
  const freeze = FREEZE_FILE.load();
  if (freeze === undefined)
    throw new ScriptError(1, "there is no freeze of this user on this host, or it was already thawed");
  const drain = new OwnDrain(["all"], freeze.reason);
  printMessage((await drain.lift()) ? "thawed" : "the drain of the freeze was already lifted");
  FREEZE_FILE.remove();
  const { other } = await drain.readDrains();
  if (other !== undefined) printMessage(`everything is still drained by ${formatDrainOwner(other)}`);
});
