#!/usr/bin/env node
/** Stops everything before an etcd upgrade, and waits until nothing runs; thaw.ts lifts it. */
import { printMessage, runScript, ScriptError } from "./command-line.ts";
import { FREEZE_FILE, type Freeze } from "./freeze-state.ts";
import { createReason, formatDrainOwner, OwnDrain } from "./own-drain.ts";

const HELP = `
Stops everything, and returns when nothing runs any more: before an upgrade of etcd, for example.

  freeze.ts [options]

thaw.ts, of the same user on the same host, lifts exactly this freeze. Where everything is drained by somebody else,
nothing is done (exit 75). The same line again goes on waiting.

  --timeout DURATION  how long to wait for what runs, such as 30m (then: exit 124, and it stays frozen)
  --reset             end what still runs after --timeout, instead of stopping
  --reason TEXT       shown to those who are stopped
  --help

signalbox is taken from PATH, or from SIGNALBOX=/path/to/signalbox.
`;

await runScript(
  {
    help: HELP,
    takes: 0,
    options: { timeout: { type: "string" }, reset: { type: "boolean" }, reason: { type: "string" } },
  },
  async ({ values }) => {
    if (values.reset && !values.timeout) throw new ScriptError(64, "--reset needs --timeout");
    FREEZE_FILE.acquire();
    const known = FREEZE_FILE.load();
    const what = typeof values.reason === "string" ? values.reason : "freeze";
    const freeze: Freeze = known ?? { reason: createReason(what) };
    const drain = new OwnDrain(["all"], freeze.reason);
    const { own, other } = await drain.readDrains();
    if (own === undefined && other !== undefined)
      throw new ScriptError(
        75,
        `nothing was done: everything is drained already, by ${formatDrainOwner(other)}`,
      );
    FREEZE_FILE.save(freeze);
    try {
      await drain.drainAndWait({
        timeout: values.timeout as string | undefined,
        reset: values.reset === true,
      });
    } catch (error) {
      if (error instanceof ScriptError)
        printMessage("it stays frozen as far as it is; go on with the same line, or thaw it");
      throw error;
    }
    printMessage("frozen: nothing runs. Thaw it with thaw.ts");
  },
);
