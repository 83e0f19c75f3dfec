import { statSync } from "node:fs";
import type { Log } from "../base/log.ts";
import { isUnavailable } from "../etcd/retry.ts";
import { SessionLost } from "../etcd/session/session.ts";
import type { AgentListener } from "../process/agent-socket/listener.ts";
import { readUserName } from "../process/host.ts";
import { formatAgentReport } from "../protocol/agent-record.ts";
import type { Agent } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";
import type { NoteSeal } from "./note-seal.ts";
import type { SharedSession } from "./shared-session.ts";

/** Interval at which an agent checks whether launchers can find it, and whether it is still needed, ms. */
const CHECK_INTERVAL = 5_000;

/**
 * Waits until an agent has been idle for a time, or its program was replaced, for example by an upgrade. Then stops
 * listening, so that the next run starts another agent. Resolves when the last call has ended, or when the signal aborts.
 * @param limit  idle time, ms
 */
export async function waitUntilUnused(
  { clock, log }: AgentContext,
  { agent, listener, limit }: { agent: Agent; listener: AgentListener; limit: number },
  signal: AbortSignal,
): Promise<void> {
  const pause = () => clock.sleep(Math.min(CHECK_INTERVAL, limit), signal).catch(() => {}); // ended
  while (!signal.aborted && agent.getIdleTime() < limit && identifyProgram() === PROGRAM) await pause();
  log.info("no longer needed");
  await listener.close();
  while (!signal.aborted && agent.getIdleTime() === 0) await pause();
}

/** The program of this process, identified when it is loaded: it may be replaced before the agent serves. */
const PROGRAM = identifyProgram();

function identifyProgram(): string | undefined {
  const status = statSync(import.meta.filename, { throwIfNoEntry: false });
  return status && `${status.ino} ${status.mtimeMs}`;
}

/**
 * Keeps the agent's socket where launchers look for it, and the key beside it. Logs a problem when it appears or changes.
 * Never rejects.
 */
export async function keepSocket(
  { clock, log, seal }: AgentContext,
  listener: AgentListener,
  signal: AbortSignal,
): Promise<void> {
  let known: Problem | undefined;
  for (;;) {
    await clock.sleep(CHECK_INTERVAL, signal).catch(() => {}); // ended
    if (signal.aborted) return;
    const problem = (await restoreSocket(listener, log)) ?? restoreKey(seal);
    if (problem !== undefined && problem.why !== known?.why) log.warn(problem.what, { why: problem.why });
    if (problem === undefined && known !== undefined)
      log.info("the socket and the key of this agent are back");
    known = problem;
  }
}

interface Problem {
  what: string;
  why: string;
}

async function restoreSocket(listener: AgentListener, log: Log): Promise<Problem | undefined> {
  const check = await listener.checkPath();
  if (check.state === "restored") log.warn("the socket was removed; it has been restored");
  return check.state === "lost"
    ? { what: `launchers cannot find this agent at ${check.path}`, why: check.why }
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

/** Shortest time between two reports, ms: each one is an entry in etcd's log. */
const REPORT_EVERY = 60_000;

/** How long a session may take to open, ms. */
const OPEN_WITHIN = 10_000;

/** A report as it was written, and the session that it is on. */
interface WrittenReport {
  text: string;
  session: bigint;
}

/**
 * Writes what this agent has done to a key on one of its sessions, so that operators see it with the host. The key that
 * names the owner of the session cannot hold it: the agent must not change its own fence. Never rejects.
 */
export async function keepAgentReport(context: AgentContext, signal: AbortSignal): Promise<void> {
  let written: WrittenReport | undefined;
  while (!signal.aborted) {
    written = await writeReport(context, written, signal).catch((error) => {
      if (!isUnavailable(error) && !(error instanceof SessionLost) && !signal.aborted)
        context.log.info("the report of this agent was not written", { error: String(error) });
      return undefined;
    });
    await context.clock.sleep(REPORT_EVERY, signal).catch(() => {}); // ended
  }
}

/** Writes the report if it has changed, or if its session has ended. */
async function writeReport(
  context: AgentContext,
  written: WrittenReport | undefined,
  signal: AbortSignal,
): Promise<WrittenReport | undefined> {
  const { statistics, keys, facts, incarnation } = context;
  const live = await listSessions(context);
  const shared = live.find(({ session }) => session.id === written?.session) ?? live[0];
  if (shared === undefined) return undefined;
  const { since, served, declined } = statistics;
  const report = { user: readUserName(), since, served, declined: Object.fromEntries(declined) };
  const now = { text: formatAgentReport(report), session: shared.session.id };
  if (written?.text === now.text && written.session === now.session) return written;
  const key = keys.agentReport(facts.fqdn, incarnation);
  const success = [{ op: "put" as const, key, value: now.text, session: now.session }];
  await shared.store.commitTxn({ compare: [], success, failure: [] }, signal);
  return now;
}

/** Lists the sessions, and opens one if all were lost: without a session, operators do not see this agent. */
async function listSessions({ sessions, settings, clock }: AgentContext): Promise<readonly SharedSession[]> {
  if (sessions.listLive().length === 0)
    await sessions.keepOpen(settings.ttl / 1000, clock.now() + OPEN_WITHIN);
  return sessions.listLive();
}
