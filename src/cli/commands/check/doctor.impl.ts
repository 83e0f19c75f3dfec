import { EXIT, SignalboxError } from "../../../core/base/errors.ts";
import type { Finding } from "../../../core/base/finding.ts";
import { canonicalizeHost, pluralize } from "../../../core/base/text.ts";
import { resolveConfig } from "../../../core/config/config.ts";
import {
  type MemberMetrics,
  readAutoCompaction,
  readMemberMetrics,
} from "../../../core/etcd/member-metrics.ts";
import { openStore } from "../../../core/etcd/open.ts";
import { chooseTransport, parseEndpoint, type StoreOptions } from "../../../core/etcd/options.ts";
import { type MemberStatus, type Store, StoreError } from "../../../core/etcd/store.ts";
import { buildStoreOptions, createClusterMemory } from "../../../core/etcd/store-options.ts";
import {
  checkEtcd,
  judgeTransport,
  type TransportName,
  type TransportTrial,
  type TransportVerdict,
} from "../../../site/check/etcd.ts";
import { buildUncheckedFinding, examine } from "../../../site/check/examine.ts";
import { type AuthenticationMode, judgeAuthentication } from "../../../site/check/permissions.ts";
import { findRunningHosts } from "../../../site/check/running-hosts.ts";
import { checkAgent, checkNative, checkOutput, locateAgentSocket } from "../../../site/check/this-host.ts";
import { load, readPages } from "../../../site/observe/read.ts";
import { countPresent, getAnsweringMembers } from "../../../site/state/etcd-findings.ts";
import type { Collection } from "../../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../site/state/snapshot-builder.ts";
import { CONTEXT_COLLECTIONS } from "../../../site/state/view-context.ts";
import type { Call, CommandExecutor, CommandIo } from "../../frame/command.ts";
import { formatJsonDocument } from "../../frame/json-output.ts";
import { readSnapshot, retryCompacted } from "../../frame/read-snapshot.ts";
import { type CommandContext, createMessagePrinter, createStoreCommand } from "../../frame/store-command.ts";
import { findStaleHosts, judgeHosts } from "../../views/checks/hosts.ts";
import { KeyCheck } from "../../views/checks/key-check.ts";
import { findOutputDirectory } from "../run/run-archive.ts";
import type { CheckHostsFlags, DoctorFlags, InitFlags } from "./doctor.ts";
import {
  AcceptedWarnings,
  type CheckFigure,
  type CheckReport,
  formatFinding,
  printFindings,
  printReport,
  reportCheck,
  reportErrorsToNagios,
  toFindingJson,
} from "./findings.ts";

export const runDoctor = reportErrorsToNagios(
  createStoreCommand<DoctorFlags>(async (context) => {
    const way = await tryTransports(context);
    try {
      const findings: Finding[] = [];
      const accepted = new AcceptedWarnings(context.flags.accept ?? []);
      const addFindings = (more: readonly Finding[]) => {
        const marked = accepted.mark(more);
        findings.push(...marked);
        printFindings(marked, context);
      };
      const keys = await examineAll({ ...context, store: way.store }, way, addFindings);
      addFindings(accepted.listUnused());
      return reportResult(context, way, findings, keys);
    } finally {
      way.close();
    }
  }),
);

async function examineAll(
  context: CommandContext<DoctorFlags>,
  way: EtcdAccess,
  report: (findings: readonly Finding[]) => void,
): Promise<KeyTotals | undefined> {
  const { settings } = context;
  const { env } = context.io;
  const { quota, role = "runner" } = context.flags;
  if (way.verdict.finding !== undefined) report([way.verdict.finding]);
  report(await checkNative(context.clock));
  report([await checkAgent(locateAgentSocket(settings.agentSocket, env))]);
  report([await checkOutput(findOutputDirectory(settings.outputDirectory, env))]);
  const isThere = countPresent(way.members) > 0;
  const authenticationMode = isThere ? await askWithoutUser(context, way.verdict.use) : undefined;
  const parts = examine(context, {
    ...way,
    quota,
    role,
    settings,
    memory: createClusterMemory(settings),
    authenticationMode,
  });
  for (;;) {
    const part = await parts.next();
    if (part.done === true) return part.value ? await examineKeys(context, report) : undefined;
    report(part.value);
  }
}

interface KeyTotals {
  revision: bigint;
  count: number;
  tickets: number;
}

/** Checks every key under the prefix, page by page, so memory does not depend on their number. */
async function examineKeys(
  context: CommandContext,
  report: (findings: readonly Finding[]) => void,
): Promise<KeyTotals | undefined> {
  try {
    const { check, revision } = await retryCompacted(() => readKeys(context));
    report(check.listFindings(context.facts.fqdn, context.clock.getWallTime()));
    return { revision, count: check.count, tickets: check.tickets };
  } catch (error) {
    context.signal.throwIfAborted();
    report([buildUncheckedFinding("keys", error)]);
    return undefined;
  }
}

async function readKeys(context: CommandContext): Promise<{ check: KeyCheck; revision: bigint }> {
  const builder = new SnapshotBuilder(context.keys, CONTEXT_COLLECTIONS);
  const revision = await load(context, builder, { signal: context.signal });
  const check = new KeyCheck(context.keys, builder.getSnapshot());
  for await (const page of readPages(context, context.keys.getFullRange(), {
    revision,
    signal: context.signal,
  })) {
    const wall = context.clock.getWallTime();
    for (const kv of page.kvs) check.add(kv, wall);
  }
  return { check, revision };
}

function reportResult(
  context: CommandContext<DoctorFlags>,
  { members }: EtcdAccess,
  findings: readonly Finding[],
  keys: KeyTotals | undefined,
): number {
  const answers = getAnsweringMembers(members);
  const present = countPresent(members);
  const figures: CheckFigure[] = [
    { name: "members", value: members.length },
    { name: "members_answering", value: present },
  ];
  if (answers.length > 0) {
    const latency = Math.round(Math.max(...answers.map(({ millis }) => millis)));
    figures.push({ name: "db_size", value: Math.max(...answers.map(({ dbSize }) => dbSize)), unit: "B" });
    figures.push({ name: "latency", value: latency, unit: "ms" });
  }
  if (keys !== undefined)
    figures.push({ name: "keys", value: keys.count }, { name: "tickets", value: keys.tickets });
  const summary = `${present} of ${members.length} members answer, ${keys?.count ?? 0} keys`;
  return reportCheck({ findings, figures, summary, revision: keys?.revision }, context);
}

export const initHost: CommandExecutor<InitFlags> = async (call, io) => {
  if (call.flags["forget-cluster"]) forgetCluster(call, io); // before a connection refuses the new one
  return await checkHost(call, io);
};

function forgetCluster(call: Call<InitFlags>, io: CommandIo): void {
  const { values } = resolveConfig({ flags: call.settings, env: io.env });
  const paths = createClusterMemory(values).forget();
  const printMessage = createMessagePrinter(call, io);
  for (const path of paths) printMessage(`forgot the cluster in ${path}`);
  if (paths.length === 0) printMessage("this host remembers no cluster for these endpoints and this prefix");
}

const checkHost = createStoreCommand<InitFlags>(async (context) => {
  const { flags, io } = context;
  const findings: Finding[] = [];
  const addFindings = (more: readonly Finding[]) => {
    findings.push(...more);
    if (!flags.json) for (const finding of more) io.writeOutput(formatFinding(finding, io));
  };
  const native = await checkNative(context.clock);
  const isFit = native.every(({ level }) => level === "ok");
  if (!isFit) addFindings(native); // at once: if etcd is unavailable, this is all there is to report
  const etcd = await checkEtcd(context, context.settings.clusterId, createClusterMemory(context.settings));
  addFindings(isFit ? [...native, ...etcd] : etcd);
  addFindings(
    judgeAuthentication(await askWithoutUser(context, chooseTransport(buildStoreOptions(context.settings)))),
  );
  if (flags.json) io.writeOutput(formatJsonDocument({ findings: findings.map(toFindingJson) }));
  const failed = findings.filter(({ level }) => level === "failure");
  if (failed.length === 0) return EXIT.ok;
  return failed.every(({ kind }) => kind === "permissions") ? EXIT.permission : EXIT.config;
});

/**
 * Reads a key from etcd without a user name, to test whether etcd requires authentication. Over gRPC, etcd may take the
 * user from a client certificate; over HTTP it never does.
 * @returns undefined if the answer does not say
 */
async function askWithoutUser(
  context: CommandContext,
  transport: TransportName,
): Promise<AuthenticationMode | undefined> {
  const { user: _, password: __, ...options } = buildStoreOptions(context.settings);
  const hasCertificate = options.tls?.cert !== undefined;
  const own = { ...options, transport: hasCertificate ? ("http" as const) : transport };
  const store = await openStore(own, context);
  try {
    await store.readRange({ key: context.keys.prefix, limit: 1, keysOnly: true }, context.signal);
    return hasCertificate ? "certificate" : "open";
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isAsked = error.kind === "unauthenticated" || error.kind === "permission";
    return isAsked ? "closed" : undefined;
  } finally {
    store.close();
  }
}

/** A working connection to etcd, if there is one. */
interface EtcdAccess {
  store: Store;
  members: readonly MemberStatus[];
  /** By endpoint. */
  gauges: ReadonlyMap<string, MemberMetrics>;
  verdict: TransportVerdict;
  close(): void;
}

/** Tries both transports in parallel, and reads the metrics of the members. */
async function tryTransports(context: CommandContext): Promise<EtcdAccess> {
  const options = buildStoreOptions(context.settings);
  const chosen = chooseTransport(options);
  const second = await openOtherStore(context, options, chosen === "http" ? "grpc" : "http");
  const [own, other, gauges] = await Promise.all([
    askMembers(context.store, context.signal),
    second instanceof Error ? second : askMembers(second, context.signal),
    readAllGauges(context, options),
  ]);
  const trials: Record<TransportName, TransportTrial> =
    chosen === "http" ? { http: own, grpc: other } : { http: other, grpc: own };
  const verdict = judgeTransport(context.settings.transport, chosen, trials);
  const isOwn = verdict.use === chosen || second instanceof Error || other instanceof Error;
  return {
    ...(isOwn ? { store: context.store, members: own } : { store: second, members: other }),
    gauges,
    verdict,
    close: () => (second instanceof Error ? undefined : second.close()),
  };
}

/** How often members are asked if none answers: on a busy host, a transport that is still loading answers late. */
const MAX_MEMBER_QUESTIONS = 3;

async function askMembers(store: Store, signal: AbortSignal): Promise<readonly MemberStatus[]> {
  for (let left = MAX_MEMBER_QUESTIONS; ; left -= 1) {
    const members = await store.readMemberStatuses(signal);
    if (left === 1 || countPresent(members) > 0) return members;
  }
}

async function openOtherStore(
  context: CommandContext,
  options: StoreOptions,
  transport: TransportName,
): Promise<Store | Error> {
  try {
    return await openStore({ ...options, transport }, context);
  } catch (error) {
    if (error instanceof SignalboxError) return error; // this transport does not support a setting
    throw error;
  }
}

async function readAllGauges(
  context: CommandContext,
  { endpoints, tls }: StoreOptions,
): Promise<Map<string, MemberMetrics>> {
  const asked = endpoints.map(async (text) => {
    const { url } = parseEndpoint(text, tls !== undefined);
    const [metrics, autoCompaction] = await Promise.all([
      readMemberMetrics(url, tls, () => context.clock.getWallTime(), context.signal),
      readAutoCompaction(url, tls, context.signal),
    ]);
    return [url, { ...metrics, autoCompaction }] as const;
  });
  return new Map(await Promise.all(asked));
}

const COLLECTIONS: readonly Collection[] = ["groups", "hosts", "drains", "workers"];
/** Default of `--within`, in ms. */
const DEFAULT_WITHIN_MS = 3_600_000;

export const checkGroupHosts = reportErrorsToNagios(
  createStoreCommand<CheckHostsFlags>(async (context) => {
    return printReport(await checkGroups(context), context);
  }),
);

async function checkGroups(context: CommandContext<CheckHostsFlags>): Promise<CheckReport> {
  const { args, flags } = context;
  const { within = DEFAULT_WITHIN_MS } = flags;
  const snapshot = await readSnapshot(context, COLLECTIONS);
  const reading = { snapshot, within, wall: context.clock.getWallTime() };
  const stale = findStaleHosts(reading, args);
  const working = [...snapshot.workers.values()].flatMap(({ value }) => value?.host ?? []);
  for (const host of working) stale.delete(canonicalizeHost(host));
  const runs = await findRunningHosts(context, stale, context.signal);
  const running = new Set([...runs, ...working.map(canonicalizeHost)]);
  const findings = judgeHosts({ ...reading, running }, args);
  const groups = args.length || snapshot.groups.size;
  const without = new Set(
    findings.filter(({ kind, level }) => kind === "group" && level === "failure").map(({ check }) => check),
  ).size;
  return {
    findings,
    revision: snapshot.revision,
    figures: [
      { name: "groups", value: groups },
      { name: "groups_without_host", value: without, critical: 0 },
      { name: "hosts_missing", value: stale.size - runs.size },
    ],
    summary: `${pluralize(groups, "group")}, ${without === 0 ? "each" : groups - without} with an active host`,
  };
}
