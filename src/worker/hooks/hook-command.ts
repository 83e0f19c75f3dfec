import type { CommandExit, GuardedCommand } from "../../process/guarded-command/command.ts";
import type { HandlerPorts } from "../handlers/handler-ports.ts";
import type { HookPayload } from "./hook-payload.ts";
import type { HookFault } from "./post-hook.ts";

/** What hooks need from their environment. */
export type HookPorts = Omit<HandlerPorts, "secrets" | "terminationTimeout">;

/** Time between TERM and KILL, ms. */
const TERMINATION = 2_000;
/** How many characters of the output to keep for the log. */
const LONGEST_OUTPUT = 300;

/**
 * Runs a hook's command under the guardian, with the payload in its environment. All its processes are gone when
 * this resolves.
 * @param within  ms until the command gets TERM
 */
export async function runHookCommand(
  { clock, commands, env }: HookPorts,
  { argv: [file = "", ...args], input }: { argv: readonly string[]; input: string },
  payload: HookPayload,
  { within, signal }: { within: number; signal: AbortSignal },
): Promise<HookFault | undefined> {
  let output = "";
  const written = Promise.withResolvers<void>();
  const streams = {
    input,
    onOutput: (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-LONGEST_OUTPUT);
    },
    onEnd: () => written.resolve(),
  };
  const command = await commands.prepare({
    file,
    args,
    env: { ...env, ...buildVariables(payload) },
    streams,
  });
  const end = () => command.terminate(clock.now() + TERMINATION);
  signal.addEventListener("abort", end, { once: true });
  try {
    const exit = await runToExit(command, clock.now() + within);
    if (exit.leftovers && !exit.terminated) end();
    await command.gone;
    await written.promise; // the end of the output arrives separately from the end of the processes
    return findExitFault(exit, output);
  } catch (error) {
    await command.release();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

async function runToExit(command: GuardedCommand, termAt: number): Promise<CommandExit> {
  command.arm({ termAt, killAt: termAt + TERMINATION });
  await command.start({});
  return await command.exited;
}

function findExitFault({ code, signal, terminated }: CommandExit, output: string): HookFault | undefined {
  if (code === 0 && !terminated) return undefined;
  const how = terminated
    ? "it was ended: its timeout has passed"
    : code === undefined
      ? `signal ${signal}`
      : `exit code ${code}`;
  return { fault: output.trim() === "" ? how : `${how}; its output: ${output.trim()}`, canRetry: false };
}

/**
 * Builds the variables of the hook. The run's id is not among them: the guardian finds the processes of a task by it.
 */
function buildVariables(payload: HookPayload): Record<string, string> {
  const { event, schedule, type, scheduled, scheduledTime, attempt, late, result, code, reason } = payload;
  const named = {
    EVENT: event,
    SCHEDULE: schedule,
    TYPE: type,
    SCHEDULED: scheduledTime,
    SCHEDULED_MS: scheduled,
    ATTEMPT: attempt,
    LATE_MS: late,
    RESULT: result,
    CODE: code,
    REASON: reason,
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [`SIGNALBOX_${name}`, String(value).replaceAll("\0", "")]),
  );
}
