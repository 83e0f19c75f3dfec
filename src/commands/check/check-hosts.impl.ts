import { findRunningHosts } from "../../check/running-hosts.ts";
import { canonicalizeHost } from "../../fleet/groups.ts";
import { findStaleHosts, judgeHosts } from "../../model/checks/hosts.ts";
import type { Collection } from "../../model/snapshot/snapshot.ts";
import { parseDurationFlag } from "../command-line/flags.ts";
import { readSnapshot } from "../read-snapshot.ts";
import type { Call } from "../spec.ts";
import { type CommandContext, createStoreCommand } from "../store-command.ts";
import { type CheckReport, printReport, reportErrorsToNagios } from "./findings.ts";

const COLLECTIONS: readonly Collection[] = ["groups", "hosts", "drains", "workers"];
/** Default of `--within`, in ms. */
const USUAL = 3_600_000;

export const execute = reportErrorsToNagios(
  createStoreCommand(async (call, io, context) => {
    return printReport(await checkGroups(call, context), call, io);
  }),
);

async function checkGroups(call: Call, context: CommandContext): Promise<CheckReport> {
  const within = parseDurationFlag(call, "within") ?? USUAL;
  const snapshot = await readSnapshot(context, COLLECTIONS);
  const sight = { snapshot, within, wall: context.clock.getWallTime() };
  const stale = findStaleHosts(sight, call.args);
  const working = [...snapshot.workers.values()].flatMap(({ value }) => value?.host ?? []);
  for (const host of working) stale.delete(canonicalizeHost(host));
  const runs = await findRunningHosts(context, stale, canonicalizeHost, context.signal);
  const running = new Set([...runs, ...working.map(canonicalizeHost)]);
  const findings = judgeHosts({ ...sight, running }, call.args);
  const groups = call.args.length > 0 ? call.args.length : snapshot.groups.size;
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
    summary: `${groups} ${groups === 1 ? "group" : "groups"}, each with an active host`,
  };
}
