import type { Clock } from "../../base/clock.ts";
import type { CommandSpec } from "./command.ts";
import { GuardianProcess } from "./guardian-process.ts";
import { NativeGuardedCommand } from "./native-guarded-command.ts";
import { splitEnvironment } from "./raw-environment.ts";
import { passTerminalSignals } from "./terminal-signals.ts";
import { encodeEnvironment } from "./wire.ts";

/**
 * Starts a guardian as a child of this process, and prepares a command under it.
 * @throws SignalboxError when an argument is invalid or the system refuses the command's environment
 */
export function createGuardedProcess(binary: string, spec: CommandSpec, clock: Clock): NativeGuardedCommand {
  const { text, raw } = splitEnvironment(spec.env);
  const command: NativeGuardedCommand = new NativeGuardedCommand({
    spec,
    clock,
    environment: encodeEnvironment(raw),
    createGuardian: (onFrame) => new GuardianProcess(binary, { ...spec, env: text }, onFrame),
    onStart() {
      if (spec.inherited === undefined || spec.isForeground) return; // the terminal signals it too
      const stop = passTerminalSignals((name) => command.signal(name), spec.inherited.ignored);
      void command.exited.then(stop);
    },
  });
  return command;
}
