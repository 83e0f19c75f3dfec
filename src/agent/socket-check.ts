import type { Log } from "../base/log.ts";
import type { AgentListener } from "../process/agent-socket/listener.ts";
import type { AgentContext } from "./agent-context.ts";
import type { NoteSeal } from "./note-seal.ts";

/** Interval at which an agent looks whether launchers find it, ms. Each time, it reads the status of two files. */
const INTERVAL = 5_000;

/**
 * Keeps the agent's socket where launchers look for it, and the key beside it. Logs a problem once, until there is another
 * one. Never rejects.
 */
export async function keepSocket(
  { clock, log, seal }: AgentContext,
  listener: AgentListener,
  signal: AbortSignal,
): Promise<void> {
  let known: Problem | undefined;
  for (;;) {
    await clock.sleep(INTERVAL, signal).catch(() => {}); // ended
    if (signal.aborted) return;
    const problem = (await restoreSocket(listener, log)) ?? restoreKey(seal);
    if (problem !== undefined && problem.why !== known?.why) log.warn(problem.what, { why: problem.why });
    if (problem === undefined && known !== undefined)
      log.info("the socket and the key of this agent are there again");
    known = problem;
  }
}

interface Problem {
  what: string;
  why: string;
}

async function restoreSocket(listener: AgentListener, log: Log): Promise<Problem | undefined> {
  const check = await listener.checkPath();
  if (check.state === "restored") log.warn("the socket was removed; it is there again");
  return check.state === "lost"
    ? { what: `launchers do not find this agent at ${check.path}`, why: check.why }
    : undefined;
}

function restoreKey(seal: NoteSeal): Problem | undefined {
  try {
    seal.restore();
    return undefined;
  } catch (error) {
    return { what: "the next agent will not know the runs of this one", why: (error as Error).message };
  }
}
