#!/usr/bin/env node
/** Drains everything, for example before an etcd upgrade, and waits until nothing runs. thaw.mjs undrains. */
import { printMessage, runScript, ScriptError } from "./command-line.ts";
import { FREEZE_FILE, type Freeze } from "./freeze-state.ts";
import { createReason, formatDrainOwner, OwnDrain } from "./own-drain.ts";

const HELP = `
Drains everything, and returns when nothing runs: for example, before an upgrade of etcd.

  freeze.mjs [options]

To undrain, run thaw.mjs as the same user on the same host. If somebody else has drained everything, freeze.mjs does nothing
and exits with 75. If it was interrupted, run the same line again to continue.

  --timeout DURATION  how long to wait for running commands, such as 30m; then exit with 124, and stay frozen
  --reset             after --timeout, end the remaining runs instead of stopping
  --reason TEXT       reason that the affected runs show
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
        `nothing was changed: everything is already drained by ${formatDrainOwner(other)}`,
      );
    FREEZE_FILE.save(freeze);
    try {
      await drain.drainAndWait({
        timeout: values.timeout as string | undefined,
        reset: values.reset === true,
      });
    } catch (error) {
      if (error instanceof ScriptError)
        printMessage(
          "the freeze is not complete; run the same line again to continue, or thaw.mjs to undrain",
        );
      throw error;
    }
    printMessage("frozen: nothing runs. To undrain, run thaw.mjs");
  },
);
