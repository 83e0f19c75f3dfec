import type { Clock } from "../../base/clock.ts";
import type { CommandExit, CommandHost, GuardedCommand } from "../../process/command.ts";
import type { HookFault } from "./hook-call.ts";
import type { HookWord } from "./hook-word.ts";

export interface HookCommandPorts {
  clock: Clock;
  commands: CommandHost;
  /** The environment of its command, without credentials. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Between TERM and KILL, ms. */
const TERMINATION = 2_000;
/** Of what it wrote, for the log. */
const LONGEST_OUTPUT = 300;

/**
 * Runs a hook's command under the guardian, the word on its standard input. Nothing of it is left when this resolves.
 * @param within  ms until it gets TERM
 */
export async function runHook(
  { clock, commands, env }: HookCommandPorts,
  [file = "", ...args]: readonly string[],
  word: HookWord,
  { within, signal }: { within: number; signal: AbortSignal },
): Promise<HookFault | undefined> {
  let output = "";
  const written = Promise.withResolvers<void>();
  const streams = {
    input: `${JSON.stringify(word)}\n`,
    onOutput: (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-LONGEST_OUTPUT);
    },
    onEnd: () => written.resolve(),
  };
  const command = await commands.prepare({ file, args, env: { ...env, ...variables(word) }, streams });
  const end = () => command.terminate(clock.now() + TERMINATION);
  signal.addEventListener("abort", end, { once: true });
  try {
    const exit = await started(command, clock.now() + within);
    if (exit.leftovers && !exit.terminated) end();
    await command.gone;
    await written.promise; // its end is told by another way than what it wrote
    return faultOf(exit, output);
  } catch (error) {
    await command.release();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

async function started(command: GuardedCommand, termAt: number): Promise<CommandExit> {
  command.arm({ termAt, killAt: termAt + TERMINATION });
  await command.start({});
  return await command.exited;
}

function faultOf({ code, signal, terminated }: CommandExit, output: string): HookFault | undefined {
  if (code === 0 && !terminated) return undefined;
  const how = terminated
    ? "it was ended: its time was up"
    : code === undefined
      ? `signal ${signal}`
      : `exit code ${code}`;
  return { fault: output.trim() === "" ? how : `${how}; it said: ${output.trim()}`, mayPass: false };
}

/** Not the run's id: by that the guardian finds what belongs to the task. */
function variables(word: HookWord): Record<string, string> {
  const { event, schedule, type, scheduled, scheduledTime, attempt, late, result, code, reason } = word;
  const named = {
    ...{ EVENT: event, SCHEDULE: schedule, TYPE: type, SCHEDULED: scheduledTime, SCHEDULED_MS: scheduled },
    ...{ ATTEMPT: attempt, LATE_MS: late, RESULT: result, CODE: code, REASON: reason },
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [`SIGNALBOX_${name}`, String(value).replaceAll("\0", "")]),
  );
}
