import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { ConfigError, EXIT } from "../base/errors.ts";
import { generateRunId } from "../base/ids.ts";
import { findNameFault, quoteText } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import { waitAtMost, waitForAbort } from "../base/wait.ts";
import { checkNative } from "../check/native.ts";
import type { AgentFlags } from "../commands/agent.ts";
import type { Call, CommandExecutor, CommandIo } from "../commands/command.ts";
import { openConnection } from "../commands/connect.ts";
import { raiseVerbosity } from "../commands/logging.ts";
import { findOutputDirectory } from "../commands/output-storage.ts";
import { RunArchive } from "../commands/run/run-archive.ts";
import { combineTransactions } from "../etcd/combined/combined-store.ts";
import { OutputServer } from "../output/output-server.ts";
import { openAgentListener } from "../process/agent-socket/listener.ts";
import {
  prepareSocketDirectory,
  refuseConnections,
  takeInheritedSocket,
} from "../process/agent-socket/listening-socket.ts";
import { loadPeerAddon } from "../process/agent-socket/peer.ts";
import { chooseSocketPlace } from "../process/agent-socket/socket-places.ts";
import { createBootClock } from "../process/clock.ts";
import { CommandCgroup } from "../process/guarded-command/cgroup.ts";
import { killOrphans } from "../process/guarded-command/orphans.ts";
import { realRandom } from "../process/random.ts";
import { createSpanSender } from "../process/span-sender.ts";
import { formatAgentSession } from "../protocol/agent-record.ts";
import { keepHostRecord } from "../run/keep-host-record.ts";
import { Successors } from "../run/successors.ts";
import { formatListenAddress } from "../worker/metrics/listen-address.ts";
import { createNotifier } from "../worker/service/notifier.ts";
import { Accounts } from "./accounts.ts";
import { Agent } from "./agent.ts";
import { type AgentContext, AgentStatistics } from "./agent-context.ts";
import { startAgentMetrics } from "./agent-metrics.ts";
import { BriefCache } from "./brief-cache.ts";
import type { AgentPorts } from "./fence.ts";
import { NoteSeal } from "./note-seal.ts";
import { SharedSessions } from "./shared-sessions.ts";
import type { SocketThreadData } from "./socket-thread.ts";
import { keepAgentReport, keepSocket, waitUntilUnused } from "./upkeep.ts";

/** Interval at which the agent reports its status to systemd, ms. */
const STATUS_INTERVAL = 5_000;
/** How long the agent waits at its end for the socket thread to write what was sent, ms. */
const FLUSH_WITHIN = 2_000;
/** How long to search for and kill the processes of a run that no launcher has reported, ms. */
const KILL_WITHIN = 5_000;

/** Serves the calls of launchers until a signal stops it. @throws ConfigError, UsageError */
export const execute: CommandExecutor<AgentFlags> = async (call, io) => {
  const descriptor = takeInheritedSocket(process.env);
  try {
    return await serveCalls(call, io, descriptor);
  } catch (error) {
    // Otherwise systemd would restart the agent again and again for the connections that wait.
    if (descriptor !== undefined) await refuseConnections(descriptor);
    throw error;
  }
};

/** @param descriptor  of the socket that systemd has passed */
async function serveCalls(
  call: Call<AgentFlags>,
  io: CommandIo,
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
  const context = createContext({ ...connection, path, readBootTime });
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
    flags.metrics === undefined ? undefined : await startAgentMetrics(flags.metrics, context, agent);
  if (metrics !== undefined) log.info("metrics are served", { at: formatListenAddress(metrics.address) });
  const stop = new AbortController();
  const stopListening = io.onSignal((name) => {
    if (name === "SIGUSR2") log.reopen();
    else stop.abort(name);
  });
  const notifier = createNotifier(io.env, { log, isAlive: () => true });
  void context.spans?.load();
  log.info("ready", { socket: path });
  notifier.sendReady();
  void warnOfNative(context);
  void keepHostRecord(context, context.facts, stop.signal);
  void serveOutput(context, findOutputDirectory(settings.outputDirectory, io.env), stop.signal);
  void keepSocket(context, listener, stop.signal);
  void agent.openFirstSession(stop.signal).then(() => keepAgentReport(context, stop.signal));
  if (flags["idle-timeout"] !== undefined)
    void waitUntilUnused(context, { agent, listener, limit: flags["idle-timeout"] }, stop.signal).then(() =>
      stop.abort("unused"),
    );
  const statusTimer = setInterval(() => notifier.sendStatus(agent.describe()), STATUS_INTERVAL);
  await waitForAbort(stop.signal);
  clearInterval(statusTimer);
  notifier.sendStopping();
  void listener.close();
  await agent.finishEnded();
  await waitAtMost(context.clock, FLUSH_WITHIN, listener.flush());
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

/** Serves the kept output of this user's ended runs. Runs whose output is kept are never runs of an agent. */
async function serveOutput(
  context: AgentContext,
  directory: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (directory === undefined) return;
  await new OutputServer(context, { host: context.host, directory, isRunning: () => false }).run(signal);
}

/** Warns if launchers cannot start commands on this host. */
async function warnOfNative({ clock, log }: AgentContext): Promise<void> {
  for (const { level, check, detail, remedy } of await checkNative(clock))
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
    killRun: (run) => killRun(run, clock),
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
    archive: new RunArchive(ports),
  };
}

async function killRun(run: string, clock: AgentContext["clock"]): Promise<boolean> {
  const mark = {
    session: -1,
    runId: run,
    startTimes: new Map(),
    cgroup: new CommandCgroup(""),
    owner: undefined,
  };
  const killed = killOrphans(mark, (ms) => clock.sleep(ms));
  if (!(await waitAtMost(clock, KILL_WITHIN, killed))) return false;
  await killed; // rejects if it is not certain that all are dead
  return true;
}
