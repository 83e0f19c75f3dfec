#!/usr/bin/env node
/** Lifts the freeze of freeze.ts, and no other drain. */
import { Stop, say, script } from "./command-line.ts";
import { FREEZE_FILE } from "./freeze-state.ts";
import { OwnDrain, whose } from "./own-drain.ts";

const HELP = `
Lifts exactly the freeze that freeze.ts has put.

  thaw.ts

Queues go on in their order. A drain that somebody else has put is left as it is. Exit 1 where nothing was frozen from
here.

signalbox is taken from PATH, or from SIGNALBOX=/path/to/signalbox.
`;

await script({ help: HELP, takes: 0, options: {} }, async () => {
  FREEZE_FILE.take();
  const freeze = FREEZE_FILE.load();
  if (freeze === undefined) throw new Stop(1, "nothing was frozen from here, or it is thawed already");
  const drain = new OwnDrain(["all"], freeze.reason);
  say((await drain.lift()) ? "thawed" : "the freeze was lifted already");
  FREEZE_FILE.remove();
  const { other } = await drain.look();
  if (other !== undefined) say(`but everything is still drained by ${whose(other)}`);
});
