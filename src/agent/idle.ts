import { statSync } from "node:fs";
import type { AgentListener } from "../process/agent-socket/listener.ts";
import type { Agent } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";

/** Interval at which an agent looks whether it is needed, ms. */
const INTERVAL = 5_000;

/**
 * Waits until an agent has served no call for a time, or its program was replaced, for example by an upgrade: then it listens
 * no longer, so that the next run starts another one. Resolves when the last call has ended, or with the signal.
 * @param limit  ms
 */
export async function waitUntilUnused(
  { clock, log }: AgentContext,
  { agent, listener, limit }: { agent: Agent; listener: AgentListener; limit: number },
  signal: AbortSignal,
): Promise<void> {
  const pause = () => clock.sleep(Math.min(INTERVAL, limit), signal).catch(() => {}); // ended
  const program = identifyProgram();
  while (!signal.aborted && agent.getIdleTime() < limit && identifyProgram() === program) await pause();
  log.info("no longer needed");
  await listener.close();
  while (!signal.aborted && agent.getIdleTime() === 0) await pause();
}

function identifyProgram(): string | undefined {
  const status = statSync(import.meta.filename, { throwIfNoEntry: false });
  return status && `${status.ino} ${status.mtimeMs}`;
}
