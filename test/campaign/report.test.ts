import { expect, test } from "vitest";
import type { CampaignVerdict } from "../../fixtures/campaign/check/index.ts";
import { buildCampaignReport, countFacts, describeReports } from "../../fixtures/campaign/report.ts";
import { makeFacts } from "./samples.ts";

const build = (seed: number, findings: readonly string[], overlaps: readonly string[]) => {
  const verdict: CampaignVerdict = {
    checks: { "no two holders": findings },
    admitted: 1,
    controls: { etcdctl: overlaps, etcd3: ["one"] },
  };
  const figures = { ...countFacts(makeFacts({})), faults: 7 };
  return buildCampaignReport({ seed, seconds: 5_400 }, figures, verdict);
};

test("a series adds the figures of its campaigns, and names the seeds that failed", () => {
  const reports = [build(7, [], ["one", "two"]), build(8, ["two runs"], ["one"]), build(9, [], [])];
  expect(describeReports(reports)).toEqual([
    "3 campaigns, 4.5 hours of faults, seeds 7, 8, 9",
    "jobs started: run 0, worker 0, library 0, etcdctl 0, etcd3 0; 21 faults",
    "findings: 1; overlaps that the documents admit: 3",
    "overlaps of negative controls: etcdctl 3, etcd3 3",
    "failed: seeds 8, 9",
  ]);
  expect(describeReports([build(7, [], ["one"])]).at(-1)).toBe("all passed");
});
