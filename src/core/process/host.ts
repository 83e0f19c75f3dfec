import { userInfo } from "node:os";
import type { Clock } from "../base/clock.ts";
import type { CommandHost } from "./guarded-command/command.ts";
import { locateNative } from "./native/locate.ts";

/**
 * Creates a command host that runs commands under the native guardian.
 * @param guardian path of the binary; by default the one that was built with this program
 * @param report logs a sentence of a guardian; by default to standard error
 * @throws SignalboxError from `prepare`: 78 when there is no working guardian, 126 when the environment is too long
 */
export function createGuardianHost(
  clock: Clock,
  guardian?: string,
  report: (text: string) => void = printReport,
): CommandHost {
  return {
    async prepare(spec) {
      // Let the caller's requests go out first: loading and spawning take 6 ms, in which etcd can answer.
      await new Promise((resolve) => setImmediate(resolve));
      const { GuardedProcess } = await import("./guarded-command/guarded-process.ts");
      const guarded = new GuardedProcess(guardian ?? locateNative("guardian"), spec, { clock, report });
      await guarded.ready;
      return guarded;
    },
  };
}

function printReport(text: string): void {
  process.stderr.write(`signalbox: ${text}\n`);
}

/** Reads the name of the current user; its number when the system has no name for it. */
export function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
