/** Endpoints that belong to two clusters, and hosts that would each ask another one: a lock is granted once, or not at all. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { openStore } from "../../../src/etcd/open/open.ts";
import { createRealClock } from "../../../src/process/clock.ts";
import { type Stage, Theatre, TRANSPORTS } from "../support/theatre.ts";

const theatre = new Theatre();
const OPTIONS = ["--lock", "x", "--ttl", "60s"];

let other: EtcdMember;
let stage: Stage | undefined;
beforeAll(async () => {
  other = await startEtcd();
  return () => other.stop();
});
afterEach(() => stage?.etcd.thaw());

async function idOf(endpoint: string): Promise<string> {
  const store = await openStore({ endpoints: [endpoint] }, { clock: createRealClock() });
  const [found] = await store.readMemberStatuses();
  store.close();
  return found?.ok ? (found.clusterId ?? 0n).toString(16) : "";
}

describe.each(TRANSPORTS)("over %s", (transport) => {
  it("a run asks the configured cluster only: 78 while that is away, and no trace in the other", async () => {
    stage = await theatre.createTestNamespace(transport);
    const [ours, theirs] = [await idOf(stage.etcd.clientUrl), await idOf(other.clientUrl)];
    const over = `${stage.journal.folder}/over`;
    const endpoint = `${other.clientUrl},${stage.etcd.clientUrl}`;
    const options = [...OPTIONS, "--cluster-id", ours];
    const first = await stage.startJobAndWait({ name: "first", options, hold: ["until", over], endpoint });
    stage.etcd.freeze();
    const { code, stderr } = await stage.startJob({ name: "second", options, endpoint }).ended;
    expect(code, stderr).toBe(78);
    expect(stderr).toContain(`${other.clientUrl} belongs to cluster ${theirs}, but clusterId is ${ours}`);
    stage.etcd.thaw();
    expect(await stage.startJob({ name: "third", options, endpoint }).ended).toMatchObject({ code: 75 });
    writeFileSync(over, "");
    expect(await first.ended).toMatchObject({ code: 0 });
    await stage.startJobAndWait({ name: "fourth", options, hold: [1], endpoint });
    await stage.waitForProcesses();
    expect(stage.journal.listStarts().map(({ name }) => name)).toEqual(["first", "fourth"]);
    expect(await other.runEtcdctl("get", "--prefix", stage.keys.prefix)).toBe("");
  }, 120_000);

  it("a job outlasts its own cluster being away for a while: the other does not tell it that its session is gone", async () => {
    stage = await theatre.createTestNamespace(transport);
    const over = `${stage.journal.folder}/over`;
    const endpoint = `${stage.etcd.clientUrl},${other.clientUrl}`;
    const options = [...OPTIONS, "--cluster-id", await idOf(stage.etcd.clientUrl), "-v"];
    const run = await stage.startJobAndWait({ name: "job", options, hold: ["until", over], endpoint });
    stage.etcd.freeze();
    await run.waitForOutput(/the session was not renewed.*belongs to cluster/);
    stage.etcd.thaw();
    writeFileSync(over, "");
    expect(await run.ended).toMatchObject({ code: 0 });
  }, 120_000);
});

describe("init and doctor", () => {
  it("say the cluster's id, and what to set", async () => {
    stage = await theatre.createTestNamespace("http");
    const id = await idOf(stage.etcd.clientUrl);
    const init = await stage.start(["init"]).ended;
    expect(init, init.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`"clusterId": "${id}"`),
    });
    const set = await stage.start(["init", "--cluster-id", id]).ended;
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining(`id ${id}, as configured`) });
    const decimal = BigInt(`0x${id}`).toString();
    if (decimal.length > 16)
      expect(await stage.start(["init", "--cluster-id", decimal]).ended).toMatchObject({ code: 0 });
  });

  it("of another cluster than the configured one: 78, and doctor fails", async () => {
    stage = await theatre.createTestNamespace("http");
    const id = await idOf(stage.etcd.clientUrl);
    const env = { SIGNALBOX_CLUSTER_ID: await idOf(other.clientUrl) };
    const init = await stage.start(["init"], { env }).ended;
    const wrong = `id ${id}, but clusterId is ${env.SIGNALBOX_CLUSTER_ID}`;
    expect(init).toMatchObject({ code: 78, stdout: expect.stringContaining(wrong) });
    const doctor = await stage.start(["doctor"], { env }).ended;
    expect(doctor.code, doctor.stderr).toBe(2);
    expect(doctor.stdout).toContain(wrong);
    expect(await stage.start(["ls"], { env }).ended).toMatchObject({
      code: 78,
      stderr: expect.stringContaining(`belongs to cluster ${id}, but clusterId is`),
    });
  });

  it("of two clusters among the endpoints: 78, and doctor fails", async () => {
    stage = await theatre.createTestNamespace("http");
    const endpoint = `${stage.etcd.clientUrl},${other.clientUrl}`;
    expect(await stage.start(["init"], { endpoint }).ended).toMatchObject({
      code: 78,
      stdout: expect.stringContaining("the endpoints belong to 2 clusters"),
    });
    const doctor = await stage.start(["doctor"], { endpoint }).ended;
    expect(doctor, doctor.stdout).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("the endpoints belong to 2 clusters"),
    });
  });
});
