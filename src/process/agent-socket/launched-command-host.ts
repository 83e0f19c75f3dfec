import type { Clock } from "../../base/clock.ts";
import type { CommandHost, CommandSpec, Deadlines } from "../guarded-command/command.ts";
import { NativeGuardedCommand } from "../guarded-command/native-guarded-command.ts";
import { encodeEnvironment } from "../guarded-command/wire.ts";
import type { LaunchedCall } from "./launched-call.ts";
import { LaunchedGuardian } from "./launched-guardian.ts";

interface LaunchedCommandPorts {
  clock: Clock;
  /** Reads the boot-time clock, ms. A caller with another one is declined, so it is also that of the guardians. */
  readBootTime(): number;
}

/**
 * Creates a command host that runs the command of a call under the guardians of its launcher. They are ordered when the
 * command is first given deadlines, so a call that waits has none. For a call that is `running`, `prepare` returns its
 * command, which is already started.
 * @param runId  the value of SIGNALBOX_RUN in the environment of a command that is already started
 * @throws SignalboxError from `prepare`: 126 when an argument is invalid
 */
export function createLaunchedCommandHost(
  call: LaunchedCall,
  ports: LaunchedCommandPorts,
  runId?: string,
): CommandHost {
  return {
    prepare: async (spec) => new LaunchedCommand(call, spec, ports, runId),
  };
}

/** A command under the guardians of a launcher. */
class LaunchedCommand extends NativeGuardedCommand {
  readonly #call: LaunchedCall;
  readonly #launched: LaunchedGuardian;

  constructor(
    call: LaunchedCall,
    spec: CommandSpec,
    { clock, readBootTime }: LaunchedCommandPorts,
    runId: string | undefined,
  ) {
    let guardian: LaunchedGuardian | undefined;
    super({
      spec,
      clock,
      readBootTime,
      runId,
      isRunning: call.state === "running",
      environment: encodeRemovals(spec.removed ?? []),
      createGuardian: (onFrame) => {
        guardian = new LaunchedGuardian(call, clock, onFrame);
        return guardian;
      },
    });
    if (guardian === undefined) throw new Error("no guardian was created");
    this.#call = call;
    this.#launched = guardian;
  }

  override arm(deadlines: Deadlines): void {
    this.#launched.begin();
    super.arm(deadlines);
  }

  override async start(env: Record<string, string>): Promise<number> {
    this.#launched.begin();
    return super.start(env);
  }

  override signal(name: NodeJS.Signals): void {
    if (this.#call.takeDelivery(name)) return;
    this.#launched.begin();
    super.signal(name);
  }

  override terminate(killAt: number): void {
    this.#launched.begin();
    super.terminate(killAt);
  }

  override async release(): Promise<void> {
    if (this.#launched.hasBegun) await super.release();
  }
}

/** Entries without `=` remove variables of the launcher's environment. */
function encodeRemovals(names: readonly string[]): Buffer[] {
  const bad = names.find((name) => name === "" || /[=\0]/.test(name));
  if (bad !== undefined) throw new RangeError(`not the name of a variable: ${JSON.stringify(bad)}`);
  return encodeEnvironment(Buffer.from(names.map((name) => `${name}\0`).join("")));
}
