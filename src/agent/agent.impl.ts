import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Call, Command, CommandExecutor, CommandIo } from "../cli/frame/command.ts";
import { openConnection } from "../cli/frame/connect.ts";
import { raiseVerbosity } from "../cli/frame/logging.ts";
import { addMs, type Clock, waitAtMost, waitForAbort } from "../core/base/clock.ts";
import { ConfigError, EXIT } from "../core/base/errors.ts";
import type { Finding } from "../core/base/finding.ts";
import { generateRunId } from "../core/base/ids.ts";
import type { Log } from "../core/base/log.ts";
import { findNameFault, quoteText } from "../core/base/text.ts";
import { VERSION } from "../core/base/version.ts";
import { combineTransactions } from "../core/etcd/combined-store.ts";
import { SessionLost } from "../core/etcd/session/session.ts";
import { isUnavailable } from "../core/etcd/store.ts";
import { type AgentListener, openAgentListener } from "../core/process/agent-socket/listener.ts";
import {
  prepareSocketDirectory,
  refuseConnections,
  takeInheritedSocket,
} from "../core/process/agent-socket/listening-socket.ts";
import { loadPeerAddon } from "../core/process/agent-socket/peer.ts";
import { chooseSocketPlace } from "../core/process/agent-socket/socket-places.ts";
import { createBootClock } from "../core/process/clock.ts";
import { readUserName } from "../core/process/host.ts";
import { requireLinux } from "../core/process/native/locate.ts";
import { createNotifier } from "../core/process/notifier.ts";
import { realRandom } from "../core/process/random.ts";
import { createSpanSender } from "../core/process/span-sender.ts";
import { formatAgentReport, formatAgentSession } from "../core/protocol/agent-record.ts";
import { keepHostRecord } from "../core/run/keep-host-record.ts";
import { Successors } from "../core/run/successors.ts";
import { Accounts } from "./accounts.ts";
import { Agent } from "./agent.ts";
import { type AgentArchive, type AgentContext, AgentStatistics, BriefCache } from "./agent-context.ts";
import type { AgentPorts } from "./fence.ts";
import { NoteSeal } from "./note-seal.ts";
import { createRunKiller } from "./run-killer.ts";
import type { SharedSession } from "./shared-session.ts";
import { SharedSessions } from "./shared-sessions.ts";
import type { SocketThreadData } from "./socket-thread.ts";

/** Interval at which the agent reports its status to systemd, ms. */
const STATUS_INTERVAL_MS = 5_000;
/** How long the agent waits at its end for the socket thread to write what was sent, ms. */
const FLUSH_TIMEOUT_MS = 2_000;

/** The flags of the command. */
export interface AgentFlags {
  readonly metrics?: string;
  /** Ms. */
  readonly "idle-timeout"?: number;
}

/** What the process of an agent does with other rooms. `bin` provides it, so that an agent needs nothing but the core. */
export interface AgentServices {
  served: readonly Command[];
  openArchive(context: AgentPorts): AgentArchive;
  /** Starts the native programs once. */
  checkNative(clock: Clock): Promise<Finding[]>;
  /** Serves the kept output of this user's ended runs until the signal aborts. Never rejects. */
  serveOutput(context: AgentContext, env: CommandIo["env"], signal: AbortSignal): Promise<void>;
  /**
   * Serves metrics to Prometheus.
   * @param listen  as given to `--metrics`, for example `:9466`
   * @throws UsageError, ConfigError when the server cannot listen there
   */
  serveMetrics(listen: string, context: AgentContext, agent: Agent): Promise<{ close(): Promise<void> }>;
}

/** Creates the command, which serves the calls of launchers until a signal stops it. It throws ConfigError and UsageError. */
export function createAgentCommand(services: AgentServices): CommandExecutor<AgentFlags> {
  return async (call, io) => {
    requireLinux("signalbox agent");
    const descriptor = takeInheritedSocket(process.env);
    try {
      return await serveCalls({ call, io, services }, descriptor);
    } catch (error) {
      // Otherwise systemd would restart the agent again and again for the connections that wait.
      if (descriptor !== undefined) await refuseConnections(descriptor);
      throw error;
    }
  };
}

/** @param descriptor  of the socket that systemd has passed */
async function serveCalls(
  { call, io, services }: { call: Call<AgentFlags>; io: CommandIo; services: AgentServices },
  descriptor: number | undefined,
): Promise<number> {
  const addon = loadPeerAddon();
  const { readBootTime } = addon;
  const connection = await openConnection(raiseVerbosity(call, io), io, {
    sharesWatches: true,
    clock: createBootClock(readBootTime),
    random: realRandom,
  });
  const { settings, log } = connection;
  const path = settings.agentSocket ?? chooseSocketPlace(io.env);
  await prepareSocketDirectory(path); // /run is empty after each boot
  const context = createContext({ ...connection, path, readBootTime }, services);
  const agent = new Agent(context);
  const address = descriptor === undefined ? { path } : { descriptor };
  const listener = await openAgentListener({
    port: startSocketThread({ address, allow: settings.agentAllow }),
    readBootTime,
    onCall: (launched) => agent.serve(launched),
    onDeclined: (why, count) => agent.countDeclined(why, count),
    onFault: (error) => log.warn("a connection failed", { error: error.message }),
  });
  const { flags } = call;
  const metrics =
    flags.metrics === undefined ? undefined : await services.serveMetrics(flags.metrics, context, agent);
  const stop = new AbortController();
  const stopListening = io.onSignal((name) => {
    if (name === "SIGUSR2") log.reopen();
    else stop.abort(name);
  });
  const notifier = createNotifier(io.env, { log, isAlive: () => true });
  void context.spans?.load();
  log.info("ready", { socket: path });
  notifier.sendReady();
  void services.checkNative(context.clock).then((findings) => warnOfFindings(findings, log));
  void keepHostRecord(context, context.facts, stop.signal);
  void services.serveOutput(context, io.env, stop.signal);
  void keepSocket(context, listener, stop.signal);
  void agent.openFirstSession(stop.signal).then(() => keepAgentReport(context, stop.signal));
  if (flags["idle-timeout"] !== undefined)
    void waitUntilUnused(context, { agent, listener, limit: flags["idle-timeout"] }, stop.signal).then(() =>
      stop.abort("unused"),
    );
  const statusTimer = setInterval(() => notifier.sendStatus(agent.describe()), STATUS_INTERVAL_MS);
  await waitForAbort(stop.signal);
  clearInterval(statusTimer);
  notifier.sendStopping();
  void listener.close();
  await agent.finishEnded();
  await waitAtMost(context.clock, FLUSH_TIMEOUT_MS, listener.flush());
  context.sessions.close();
  log.info("ended", { calls: agent.describe() });
  stopListening();
  await metrics?.close();
  await context.spans?.close();
  await context.archive.close();
  await notifier.close();
  connection.store.close();
  log.close?.();
  return EXIT.ok;
}

/** Warns if launchers cannot start commands on this host. */
function warnOfFindings(findings: readonly Finding[], log: Log): void {
  for (const { level, check, detail, remedy } of findings)
    if (level !== "ok") log.warn(`${check}: ${detail}`, remedy === undefined ? {} : { remedy });
}

/** Starts the thread that owns the socket. If the thread ends, the agent ends too, because no launcher could reach it. */
function startSocketThread(data: SocketThreadData): Worker {
  const thread = new Worker(join(import.meta.dirname, "agent-socket.cjs"), { workerData: data });
  return thread.once("exit", () => {
    throw new Error("the socket thread has ended"); // uncaught on purpose, like an error of the thread
  });
}

type Connection = Awaited<ReturnType<typeof openConnection>>;

function createContext(
  connection: Connection & Pick<AgentContext, "readBootTime"> & { path: string },
  { served, openArchive }: AgentServices,
): AgentContext {
  const { clock, readBootTime, keys, random, log, facts, settings, path } = connection;
  const fault = findNameFault(facts.fqdn);
  if (fault !== undefined)
    throw new ConfigError(
      `the name of this host, ${quoteText(facts.fqdn)}, cannot be used: ${fault}; set host`,
    );
  const incarnation = generateRunId(random);
  const ports: AgentPorts = {
    store: combineTransactions(connection.store, clock, keys),
    proofStore: combineTransactions(connection.store, clock, keys),
    keys,
    clock,
    random,
    log,
    host: facts.fqdn,
    describeSession: () => formatAgentSession({ agent: incarnation, pid: process.pid, version: VERSION }),
    killRun: createRunKiller(clock),
  };
  return {
    ...ports,
    settings,
    readBootTime,
    facts,
    incarnation,
    statistics: new AgentStatistics(clock.getWallTime()),
    sessions: new SharedSessions(ports),
    successors: new Successors(),
    accounts: new Accounts(),
    callerFacts: new BriefCache(clock),
    userNames: new BriefCache(clock),
    configFiles: new BriefCache(clock),
    seal: NoteSeal.open(join(dirname(path), "agent.key")),
    spans: createSpanSender(process.env, ports, facts.fqdn),
    archive: openArchive(ports),
    served,
  };
}

/** Interval at which an agent checks whether launchers can find it, and whether it is still needed, ms. */
const CHECK_INTERVAL_MS = 5_000;

/**
 * Waits until an agent has been idle for a time, or its program was replaced, for example by an upgrade. Then stops
 * listening, so that the next run starts another agent. Resolves when the last call has ended, or when the signal aborts.
 * @param limit  idle time, ms
 */
async function waitUntilUnused(
  { clock, log }: AgentContext,
  { agent, listener, limit }: { agent: Agent; listener: AgentListener; limit: number },
  signal: AbortSignal,
): Promise<void> {
  const pause = () => clock.sleep(Math.min(CHECK_INTERVAL_MS, limit), signal).catch(() => {}); // ended
  do
    await pause(); // first: on a busy host, the start alone may take as long as the limit
  while (!signal.aborted && agent.getIdleTime() < limit && identifyProgram() === PROGRAM);
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
    await clock.sleep(CHECK_INTERVAL_MS, signal).catch(() => {}); // ended
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
const REPORT_INTERVAL_MS = 60_000;

/** How long a session may take to open, ms. */
const OPEN_TIMEOUT_MS = 10_000;

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
    await context.clock.sleep(REPORT_INTERVAL_MS, signal).catch(() => {}); // ended
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
    await sessions.keepOpen(settings.ttl / 1000, addMs(clock.now(), OPEN_TIMEOUT_MS));
  return sessions.listLive();
}
