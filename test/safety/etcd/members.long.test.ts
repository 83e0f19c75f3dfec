/** `signalbox etcd members` on three real members: all there, one stopped, one that lags, an alarm. */
import { describe, expect, onTestFinished, test } from "vitest";
import { CampaignCluster } from "../../../fixtures/campaign/cluster.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { findMismatches } from "../../../fixtures/find-mismatches.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { ETCD_SCHEMA } from "../../../scripts/json-doc.ts";

interface Member {
  name: string;
  state: string;
  endpoint: string;
  lag?: number;
  note?: string;
  alarms: string[];
  quota?: number;
  dbSize?: number;
}

async function readMembers(namespace: TestNamespace): Promise<{ code: number | null; members: Member[] }> {
  const { code, stdout } = await namespace.execute("etcd members --json");
  const { version, ...document } = JSON.parse(stdout);
  expect(version).toBe(1);
  expect(findMismatches(ETCD_SCHEMA, { $ref: "#/$defs/etcd members" }, document)).toEqual([]);
  return { code, members: document.members };
}

describe("three members", () => {
  const QUOTA = 64 * 1024 * 1024;
  const cluster = TestCluster.startForFile({ size: 3, quotaBytes: QUOTA });

  test.each(TRANSPORTS)("one leads, two follow, and all facts are there (over %s)", async (transport) => {
    const namespace = cluster.createNamespace({ transport });
    const { code, members } = await readMembers(namespace);
    expect(code).toBe(0);
    expect(members.map(({ state }) => state)).toEqual(["leader", "follower", "follower"]);
    expect(members.map(({ name }) => name).sort()).toEqual(["m1", "m2", "m3"]);
    for (const { quota, dbSize = 0, alarms } of members) {
      expect({ quota, alarms }).toEqual({ quota: QUOTA, alarms: [] });
      expect(dbSize).toBeGreaterThan(0);
    }
    expect(await namespace.execute("etcd members")).toExit(0, {
      stdout: /^NAME +STATE +ENDPOINT +VERSION .*QUOTA +LATENCY .*\nm\d +leader +http:.* 64 MiB .* ms/,
    });
  });

  test.each(TRANSPORTS)("one is stopped: it has a row with the reason (over %s)", async (transport) => {
    const third = cluster.getMember(2);
    await third.kill();
    onTestFinished(async () => third.restart());
    const { code, members } = await readMembers(cluster.createNamespace({ transport }));
    expect(code).toBe(0);
    const away = members.find(({ endpoint }) => endpoint === third.clientUrl);
    expect(away).toMatchObject({ name: "m3", state: "unreachable" });
    expect(away?.note).toMatch(/refused|ECONNREFUSED/);
  });

  test("one is frozen, and not waited for without end", async () => {
    const third = cluster.getMember(2);
    third.freeze();
    onTestFinished(() => third.unfreeze());
    const { code, members } = await readMembers(cluster.createNamespace());
    expect(code).toBe(0);
    expect(members.find(({ name }) => name === "m3")?.note).toMatch(/^no answer within/);
  });

  test("only one endpoint is configured: the others are said not to have been asked", async () => {
    const endpoints = [cluster.etcd.clientUrl];
    const { members } = await readMembers(cluster.createNamespace({ endpoints }));
    expect(members.map(({ state }) => state).sort()).toEqual([expect.any(String), "unasked", "unasked"]);
  });

  test("an alarm is shown with the member that has it", async () => {
    await cluster.etcd.setAlarm("ACTIVATE");
    onTestFinished(() => cluster.etcd.setAlarm("DEACTIVATE"));
    await waitUntil("the alarm is known everywhere", async () => {
      const { members } = await readMembers(cluster.createNamespace());
      return (
        members
          .filter(({ alarms }) => alarms.includes("NOSPACE"))
          .map(({ name }) => name)
          .join() === "m1"
      );
    });
    expect(await cluster.createNamespace().execute("etcd members")).toExit(0, {
      stdout: /ALARMS.*\n(.*\n)*m1 .* NOSPACE/,
    });
  });
});

test("a member that is cut off from the others lags, and says so", async () => {
  const campaign = await CampaignCluster.start();
  onTestFinished(() => campaign.stop());
  const cluster = await TestCluster.connect(campaign.clientUrls);
  onTestFinished(() => cluster.close());
  const leader = await campaign.findLeader();
  const cut = (leader + 1) % 3;
  for (const other of [0, 1, 2].filter((at) => at !== cut))
    for (const proxy of campaign.links.cut(campaign.ids, cut, other, "refused")) proxy.reset();
  const write = () => cluster.write({ op: "put", key: "x", value: "" });
  for (let count = 0; count < 50; count += 1) await write();
  await waitUntil("it lags", async () => {
    const { members } = await readMembers(cluster.createNamespace());
    const member = members.find(({ endpoint }) => endpoint === campaign.clientUrls[cut]);
    return (member?.lag ?? 0) >= 20 && member?.state === "leaderless" && member.note?.includes("no leader");
  });
});

test("no member answers: every row has its reason, and the command fails", async () => {
  const endpoints = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
  const cluster = await TestCluster.connect(endpoints);
  onTestFinished(() => cluster.close());
  const { code, members } = await readMembers(cluster.createNamespace());
  expect(code).toBe(69);
  expect(members.map(({ state }) => state)).toEqual(["unreachable", "unreachable"]);
});
