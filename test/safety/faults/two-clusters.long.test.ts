/** Endpoints of two clusters, and hosts that would each use a different one: a lock is granted once, or not at all. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { openStore } from "../../../src/core/etcd/open.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { connect } from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
const OPTIONS = ["--lock", "x", "--ttl", "60s"];

let other: EtcdMember;
let namespace: TestNamespace | undefined;
beforeAll(async () => {
  other = await startEtcd();
  return () => other.stop();
});
afterEach(() => {
  namespace?.etcd.unfreeze();
  other.unfreeze();
});

async function readClusterId(endpoint: string) {
  const store = await openStore({ endpoints: [endpoint] }, { clock: createRealClock() });
  const [found] = await store.readMemberStatuses();
  store.close();
  return found?.ok ? (found.clusterId ?? 0n).toString(16) : "";
}

describe.each(TRANSPORTS)("over %s", (transport) => {
  it("a run asks the configured cluster only: 78 while that is away, and no trace in the other", async () => {
    namespace = await cluster.createTestNamespace(transport);
    const [ours, theirs] = [
      await readClusterId(namespace.etcd.clientUrl),
      await readClusterId(other.clientUrl),
    ];
    const endpoint = `${other.clientUrl},${namespace.etcd.clientUrl}`;
    const options = [...OPTIONS, "--cluster-id", ours];
    const first = await namespace.jobs.startHolder("first", options, { endpoints: [endpoint] });
    namespace.etcd.freeze();
    expect(await namespace.jobs.start("second", options, { endpoints: [endpoint] }).ended).toExit(78, {
      stderr: `${other.clientUrl} belongs to cluster ${theirs}, but clusterId is ${ours}`,
    });
    namespace.etcd.unfreeze();
    expect(await namespace.jobs.start("third", options, { endpoints: [endpoint] }).ended).toExit(75);
    expect(await first.finish()).toExit(0);
    await namespace.jobs.startAndWait("fourth", options, { endpoints: [endpoint] });
    await namespace.waitForProcesses();
    expect(namespace.jobs.journal.listNames()).toEqual(["first", "fourth"]);
    expect(await other.runEtcdctl("get", "--prefix", namespace.keys.prefix)).toBe("");
  }, 120_000);

  it("a job outlasts its own cluster being away for a while: the other does not tell it that its session is gone", async () => {
    namespace = await cluster.createTestNamespace(transport);
    const endpoint = `${namespace.etcd.clientUrl},${other.clientUrl}`;
    const options = [...OPTIONS, "--cluster-id", await readClusterId(namespace.etcd.clientUrl), "-v"];
    const run = await namespace.jobs.startHolder("job", options, { endpoints: [endpoint] });
    namespace.etcd.freeze();
    await run.waitForOutput(/the session was not renewed.*belongs to cluster/);
    namespace.etcd.unfreeze();
    expect(await run.finish()).toExit(0);
  }, 120_000);
});

describe.each(TRANSPORTS)("a host over %s, without clusterId", (transport) => {
  /** Opens a namespace on both clusters, with a folder in which its host remembers the cluster. */
  async function openHost(): Promise<{ both: string[]; env: Record<string, string>; ids: [string, string] }> {
    namespace = await cluster.createTestNamespace(transport);
    const state = `${namespace.jobs.journal.folder}/state`;
    mkdirSync(state);
    return {
      both: [`${other.clientUrl},${namespace.etcd.clientUrl}`],
      env: { XDG_STATE_HOME: state },
      ids: [await readClusterId(namespace.etcd.clientUrl), await readClusterId(other.clientUrl)],
    };
  }

  it("remembers the first cluster: later processes refuse another, until it is forgotten", async () => {
    const { both, env, ids } = await openHost();
    const [ours, theirs] = ids;
    const { etcd, jobs, keys } = namespace as TestNamespace;
    const options = [...OPTIONS, "--connect-timeout", "5s"];
    const start = (name: string) => jobs.start(name, options, { endpoints: both, env }).ended;
    other.freeze();
    expect(await start("first")).toExit(0);
    const [file = ""] = readdirSync(`${env.XDG_STATE_HOME}/signalbox`);
    const path = `${env.XDG_STATE_HOME}/signalbox/${file}`;
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ clusterId: ours, prefix: keys.prefix });
    other.unfreeze();
    etcd.freeze();
    const refused = await start("second");
    expect(refused).toExit(78, { stderr: `${other.clientUrl} belongs to cluster ${theirs}` });
    expect(refused.stderr).toContain(`this host remembers the cluster ${ours} for these endpoints (${path})`);
    expect(refused.stderr).toContain("signalbox init --forget-cluster");
    expect(await other.runEtcdctl("get", "--prefix", keys.prefix)).toBe("");
    const init = await (namespace as TestNamespace).start("init --forget-cluster", {
      endpoints: both,
      env,
    }).ended;
    expect(init.stderr).toContain(`forgot the cluster in ${path}`);
    expect(await start("third")).toExit(0);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ clusterId: theirs });
    expect(jobs.journal.listNames()).toEqual(["first", "third"]);
  }, 120_000);

  it("starts nothing if both clusters answer, and remembers none", async () => {
    const { both, env, ids } = await openHost();
    const { jobs } = namespace as TestNamespace;
    const runs = ["a", "b", "c", "d", "e", "f"].map((name) =>
      jobs.start(name, OPTIONS, { endpoints: both, env }),
    );
    for (const { ended } of runs) {
      const { code, stderr } = await ended;
      expect(code, stderr).toBe(78);
      for (const id of ids) expect(stderr).toContain(`belongs to cluster ${id}`);
      expect(stderr).toContain("name the members of one cluster only");
    }
    expect(jobs.journal.listStarts()).toEqual([]);
    expect(existsSync(`${env.XDG_STATE_HOME}/signalbox`), "nothing is remembered").toBe(false);
  }, 120_000);

  it("remembers it for the agent, workers, the library and commands that read", async () => {
    const { both, env, ids } = await openHost();
    const own = namespace as TestNamespace;
    const socket = `${own.jobs.journal.folder}/agent.sock`;
    const options = { endpoints: both, env: { ...env, SIGNALBOX_AGENT_SOCKET: socket } };
    const startAgent = async () => {
      const agent = own.start("agent", options);
      await waitUntil("the agent has its socket", () => existsSync(socket));
      return agent;
    };
    const runServed = () =>
      own.start("run --agent always --lock x --connect-timeout 5s -- true", {
        ...options,
        launcher: {},
      }).ended;
    other.freeze();
    const agent = await startAgent();
    expect(await runServed()).toExit(0);
    await agent.end();
    other.unfreeze();
    own.etcd.freeze();
    await startAgent();
    const results = {
      served: runServed(),
      worker: own.start("worker --no-commands", options).ended,
      ls: own.start("ls", options).ended,
    };
    for (const [name, ended] of Object.entries(results)) {
      const { code, stderr } = await ended;
      expect(code, `${name}: ${stderr}`).toBe(78);
      expect(stderr, name).toContain(`this host remembers the cluster ${ids[0]}`);
    }
    const before = process.env.XDG_STATE_HOME;
    Object.assign(process.env, env);
    const box = await connect({
      endpoints: both.flatMap((text) => text.split(",")),
      prefix: own.prefix,
      env: own.env,
    });
    process.env.XDG_STATE_HOME = before;
    const refused = box.acquire({ lock: "x" });
    await expect(refused).rejects.toThrow(`this host remembers the cluster ${ids[0]}`);
    await box.close();
  }, 120_000);

  it("works on with a full disk, and init tells it", async () => {
    const { both, env } = await openHost();
    const own = namespace as TestNamespace;
    other.freeze();
    const before = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"];
    const full = await own.start("init", { endpoints: both, env, before }).ended;
    expect(full).toExit(0, {
      stdout: /this host cannot remember the cluster: .*cannot be written: .*\(EFBIG\)/,
    });
    expect(readdirSync(`${env.XDG_STATE_HOME}/signalbox`), "no part of a file").toEqual([]);
    const run = own.jobs.start("job", OPTIONS, { endpoints: both, env });
    expect(await run.ended).toExit(0);
    const remembered = await own.start("init", { endpoints: both, env }).ended;
    expect(remembered.stdout).toMatch(/clusterId is not set; this host remembers the cluster in .*cluster-/);
  }, 120_000);

  it("says what to do if the file is damaged", async () => {
    const { both, env } = await openHost();
    const own = namespace as TestNamespace;
    const read = () => own.start("ls", { endpoints: both, env }).ended;
    other.freeze();
    expect(await read()).toExit(0);
    const [file = ""] = readdirSync(`${env.XDG_STATE_HOME}/signalbox`);
    const path = `${env.XDG_STATE_HOME}/signalbox/${file}`;
    writeFileSync(path, "");
    const end = await read();
    expect(end).toExit(78);
    expect(end.stderr).toContain(path);
    expect(end.stderr).toContain("signalbox init --forget-cluster");
    const init = await own.start("init --forget-cluster", { endpoints: both, env }).ended;
    expect(init.stderr).toContain(`forgot the cluster in ${path}`);
    expect(await read()).toExit(0);
  }, 120_000);
});

describe("init and doctor", () => {
  it("say the cluster's id, and what to set", async () => {
    namespace = await cluster.createTestNamespace();
    const id = await readClusterId(namespace.etcd.clientUrl);
    const init = await namespace.execute("init");
    expect(init, init.stderr).toExit(0, { stdout: `"clusterId": "${id}"` });
    const set = await namespace.execute(["init", "--cluster-id", id]);
    expect(set).toExit(0, { stdout: `id ${id}, as configured` });
    const decimal = BigInt(`0x${id}`).toString();
    if (decimal.length > 16) await namespace.expectDone("init --cluster-id", decimal);
  });

  it("of another cluster than the configured one: 78, and doctor fails", async () => {
    namespace = await cluster.createTestNamespace();
    const id = await readClusterId(namespace.etcd.clientUrl);
    const env = { SIGNALBOX_CLUSTER_ID: await readClusterId(other.clientUrl) };
    const init = await namespace.execute("init", { env });
    const wrong = `id ${id}, but clusterId is ${env.SIGNALBOX_CLUSTER_ID}`;
    expect(init).toExit(78, { stdout: wrong });
    const doctor = await namespace.execute("doctor", { env });
    expect(doctor).toExit(2);
    expect(doctor.stdout).toContain(wrong);
    expect(await namespace.execute("ls", { env })).toExit(78, {
      stderr: `belongs to cluster ${id}, but clusterId is`,
    });
  });

  it("of two clusters among the endpoints: 78, and doctor fails", async () => {
    namespace = await cluster.createTestNamespace();
    const endpoint = `${namespace.etcd.clientUrl},${other.clientUrl}`;
    expect(await namespace.execute("init", { endpoints: [endpoint] })).toExit(78, {
      stdout: "the endpoints belong to 2 clusters",
    });
    const doctor = await namespace.execute("doctor", { endpoints: [endpoint] });
    expect(doctor, doctor.stdout).toExit(2, { stdout: "the endpoints belong to 2 clusters" });
  });
});
