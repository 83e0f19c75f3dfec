import { canonicalHost } from "../../fleet/groups.ts";
import { judgeHosts, staleHosts } from "../../model/checks/hosts.ts";
import type { Room } from "../../model/picture.ts";
import { runningHosts } from "../../work/check/running.ts";
import { durationFlag } from "../flags.ts";
import { pictureOf } from "../look.ts";
import type { Call } from "../spec.ts";
import { type Desk, withStore } from "../with-store.ts";
import { conclude, findingLines, type Report, tellingNagios } from "./findings.ts";

const ROOMS: readonly Room[] = ["groups", "hosts", "drains"];
/** ms */
const USUAL = 3_600_000;

export const execute = tellingNagios(
  withStore(async (call, world, desk) => {
    const report = await reportOf(call, desk);
    if (!call.flags.json && !call.flags.nagios)
      for (const finding of report.findings) world.out(findingLines(finding, world));
    return conclude(report, call.flags, world);
  }),
);

async function reportOf(call: Call, desk: Desk): Promise<Report> {
  const within = durationFlag(call, "within") ?? USUAL;
  const picture = await pictureOf(desk, ROOMS);
  const sight = { picture, within, wall: desk.clock.wall() };
  const stale = staleHosts(sight, call.args);
  const running = await runningHosts(desk, stale, canonicalHost, desk.signal);
  const findings = judgeHosts({ ...sight, running }, call.args);
  const groups = call.args.length > 0 ? call.args.length : picture.groups.size;
  const without = new Set(
    findings.filter(({ kind, level }) => kind === "group" && level === "failure").map(({ check }) => check),
  ).size;
  return {
    ...{ findings, revision: picture.revision },
    figures: [
      { name: "groups", value: groups },
      { name: "groups_without_host", value: without, critical: 0 },
      { name: "hosts_missing", value: stale.size - running.size },
    ],
    summary: `${groups} ${groups === 1 ? "group" : "groups"}, each with a host that is there`,
  };
}
