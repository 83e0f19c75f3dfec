#!/usr/bin/env node
/** Lifts the freeze of freeze.ts, and no other drain. */
import { printMessage, runScript, ScriptError } from "./command-line.ts";
import { FREEZE_FILE } from "./freeze-state.ts";
import { formatDrainOwner, OwnDrain } from "./own-drain.ts";

const HELP = `
Lifts exactly the freeze that freeze.ts has put.

  thaw.ts

Queues go on in their order. A drain that somebody else has put is left as it is. Exit 1 where nothing was frozen from
here.

signalbox is taken from PATH, or from SIGNALBOX=/path/to/signalbox.
`;

await runScript({ help: HELP, takes: 0, options: {} }, async () => {
  FREEZE_FILE.acquire();
  const freeze = FREEZE_FILE.load();
  if (freeze === undefined) throw new ScriptError(1, "nothing was frozen from here, or it is thawed already");
  const drain = new OwnDrain(["all"], freeze.reason);
  printMessage((await drain.lift()) ? "thawed" : "the freeze was lifted already");
  FREEZE_FILE.remove();
  const { other } = await drain.readDrains();
  if (other !== undefined) printMessage(`but everything is still drained by ${formatDrainOwner(other)}`);
});
