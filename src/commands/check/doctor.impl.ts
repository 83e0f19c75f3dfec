import { UsageError } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { quoteText } from "../../base/text.ts";
import { checkAgent, locateAgentSocket } from "../../check/agent.ts";
import { buildUncheckedFinding, examine } from "../../check/examine.ts";
import { countPresent, getAnsweringMembers } from "../../check/members.ts";
import { checkNative } from "../../check/native.ts";
import { checkOutput } from "../../check/output.ts";
import type { EtcdRole } from "../../check/permissions.ts";
import { createClusterMemory } from "../../etcd/open/store-options.ts";
import { KeyCheck } from "../../model/checks/key-check.ts";
import type { Collection } from "../../model/snapshot/snapshot.ts";
import { SnapshotBuilder } from "../../model/snapshot/snapshot-builder.ts";
import { load, readPages } from "../../observe/read.ts";
import { getListFlag, getTextFlag } from "../command-line/flags.ts";
import { findOutputDirectory } from "../output-storage.ts";
import { retryCompacted } from "../read-snapshot.ts";
import type { Call, CommandIo } from "../spec.ts";
import { type CommandContext, createStoreCommand } from "../store-command.ts";
import { askWithoutUser } from "./ask-without-user.ts";
import { AcceptedWarnings } from "./doctor/accepted.ts";
import { type EtcdAccess, tryTransports } from "./doctor/doctor-transports.ts";
import { type CheckFigure, printFindings, reportCheck, reportErrorsToNagios } from "./findings.ts";

/** Small collections that the other keys are checked against. */
const KEY_CHECK_COLLECTIONS: readonly Collection[] = ["resourceConfigs", "groups", "drains", "hosts"];

export const execute = reportErrorsToNagios(
  createStoreCommand(async (call, io, context) => {
    const quota = parseBytesFlag(call, "quota");
    const way = await tryTransports(context);
    try {
      const findings: Finding[] = [];
      const accepted = new AcceptedWarnings(getListFlag(call, "accept"));
      const addFindings = (more: readonly Finding[]) => {
        const marked = accepted.mark(more);
        findings.push(...marked);
        printFindings(marked, call, io);
      };
      const own = { ...context, store: way.store };
      const keys = await examineAll({ call, env: io.env, quota }, own, way, addFindings);
      addFindings(accepted.listUnused());
      return reportResult(call, io, way, findings, keys);
    } finally {
      way.close();
    }
  }),
);

async function examineAll(
  { call, env, quota }: { call: Call; env: CommandIo["env"]; quota: number | undefined },
  context: CommandContext,
  way: EtcdAccess,
  tell: (findings: readonly Finding[]) => void,
): Promise<KeyTotals | undefined> {
  const role: EtcdRole = getTextFlag(call, "role") === "operator" ? "operator" : "runner";
  if (way.verdict.finding !== undefined) tell([way.verdict.finding]);
  tell(await checkNative(context.clock));
  tell([await checkAgent(locateAgentSocket(context.settings.agentSocket, env))]);
  tell([await checkOutput(findOutputDirectory(context.settings.outputDirectory, env))]);
  const isThere = countPresent(way.members) > 0;
  const openness = isThere ? await askWithoutUser(context, way.verdict.use) : undefined;
  const parts = examine(context, {
    ...way,
    quota,
    role,
    settings: context.settings,
    memory: createClusterMemory(context.settings),
    authenticationMode: openness,
  });
  for (;;) {
    const part = await parts.next();
    if (part.done === true) return part.value ? await examineKeys(context, tell) : undefined;
    tell(part.value);
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
  tell: (findings: readonly Finding[]) => void,
): Promise<KeyTotals | undefined> {
  try {
    const { check, revision } = await retryCompacted(() => readKeys(context));
    tell(check.listFindings(context.facts.fqdn, context.clock.getWallTime()));
    return { revision, count: check.count, tickets: check.tickets };
  } catch (error) {
    context.signal.throwIfAborted();
    tell([buildUncheckedFinding("keys", error)]);
    return undefined;
  }
}

async function readKeys(context: CommandContext): Promise<{ check: KeyCheck; revision: bigint }> {
  const builder = new SnapshotBuilder(context.keys, KEY_CHECK_COLLECTIONS);
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
  call: Call,
  io: CommandIo,
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
  return reportCheck({ findings, figures, summary, revision: keys?.revision }, call.flags, io);
}

const UNITS = ["", "k", "m", "g", "t"];

/** Parses a size such as `8GiB`, `2G` or `500MB`. All units are powers of 1024, as in etcd. @throws UsageError */
function parseBytesFlag(call: Call, name: string): number | undefined {
  const text = getTextFlag(call, name);
  if (text === undefined) return undefined;
  const [, number = "", unit = ""] = /^(\d{1,12}(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text) ?? [];
  const bytes = number === "" ? 0 : Number(number) * 1024 ** UNITS.indexOf(unit.toLowerCase());
  if (bytes < 1) throw new UsageError(`--${name} must be a size, such as 8GiB; got ${quoteText(text)}`);
  return bytes;
}
