import { constants } from "node:os";
import { NO_DEBUGGER } from "../node-options.ts";
import { loadAddon } from "./locate.ts";

let isReceived = !process.execArgv.includes(NO_DEBUGGER);

/**
 * Delivers USR1 to its listeners, also one that arrived earlier: with the option against the debugger, Node leaves the
 * signal blocked.
 */
export function receiveUsr1(): void {
  if (isReceived) return;
  isReceived = true;
  try {
    loadAddon().unblockSignal?.(constants.signals.SIGUSR1);
  } catch {
    // without the addon, the signal has no effect
  }
}
