import { describe, expect } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { MeasuredHost, obstacle } from "../../../fixtures/process/measured-host.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const FAIL = ["sh", "-c", "exit 3"];
const IDLE = ["--if", "load < 2"];
/** The test decides what the process measures. An agent measures its own host. */
const ALONE = ["--agent", "never", "-v"];

describe("a condition", () => {
  test("that holds lets the run go on", async ({ namespace }) => {
    const run = await namespace.run(
      "--lock a --if 'load >= 0' --if 'CPU >= 1 + 0' --if 'min(MEMMB, 5) == 5'",
    );
    expect(run).toExitSilently(0);
  });

  test("that does not hold is why nothing is run, and the log has the value", async ({ namespace }) => {
    const words = (more: string[]) => ["--lock", "a", "--if", "CPU > 0", "--if", "CPU < 1", ...more];
    expect(await namespace.run(words([]))).toExitSilently(75);
    expect(await namespace.run(words(["-E", "0"]))).toExitSilently(0);
    const told = await namespace.run(words(["-v"]));
    expect(told).toExit(75, { stderr: /nothing was run: condition "CPU < 1" does not hold: CPU is \d+/ });
    const waited = await namespace.run(words(["-v", "--wait=50ms"]));
    expect(waited).toExit(75, {
      stderr: /the wait timed out; condition "CPU < 1" does not hold: CPU is \d+/,
    });
    expect(await namespace.listLeftovers()).toEqual([]);
  });

  test.for([
    ["lod < 3", 'there is no macro "lod", at character 1', 64],
    ["load", "a comparison is missing, at character 5", 64],
    ["load < 10%", "a number is missing, at character 11", 64],
    ["load = 1", 'expected a comparison, got "=", at character 6', 64],
    ["0 < load < 3", 'unexpected "<", at character 10', 64],
    ["RACK < 3", 'there is no macro "RACK", at character 1', 64],
    ["CPU / (CPU - CPU) < 3", "division by zero, at character 5", 64],
    ["FQDN < 3", "not a number, at character 1", 64],
  ] as const)("%s is refused", async ([condition, fault, code], { namespace }) => {
    const run = await namespace.run(["--lock", "a", "--if", condition]);
    expect(run).toFail(code, fault);
    expect(run.stderr).toContain(`"${condition}": `);
  });

  test("is shown by a preview", async ({ namespace }) => {
    const preview = async (...more: string[]) =>
      await namespace.run(["--lock", "a", "--if", "load >= 0", ...more, "--dry-run"]);
    const open = await preview();
    expect(open).toExit(0, { stdout: /^if +load >= 0 \(load is [\d.]+\)$/m });
    const stopped = await preview("--if", "CPU < 1");
    expect(stopped).toExit(75, {
      stdout: /would give up\nbecause +condition "CPU < 1" does not hold: CPU is \d+$/m,
    });
    const waits = await preview("--if", "CPU < 1", "--wait", "--json");
    expect(waits).toExit(0);
    expect(JSON.parse(waits.stdout)).toMatchObject({
      verdict: "waits",
      conditions: [
        { condition: "load >= 0", holds: true },
        { condition: "CPU < 1", holds: false, values: expect.stringMatching(/^CPU is \d+$/) },
      ],
    });
  });
});

describe.concurrent(`on a host with load${obstacle ? ` (${obstacle})` : ""}`, {
  skip: obstacle !== undefined,
}, () => {
  test("a run waits outside the queue until the load is low", { concurrent: false }, async ({
    namespace,
  }) => {
    const host = new MeasuredHost(cluster.createPath(), 9, 50);
    const options = ["--lock", "a", "--wait=1m", ...IDLE, ...ALONE];
    const run = namespace.startRun(options, "true", { before: host.before });
    await run.waitForOutput("does not hold: load is 9");
    // The session of an agent has no key for a moment.
    await waitUntil("it has left all", async () => (await namespace.listLeftovers()).length === 0);
    expect(await namespace.run("--lock a")).toExit(0);
    host.setLoad(1);
    expect(await run.ended).toExit(0);
  });

  test("a run that waits in the queue leaves it while the load is high, and comes back", async ({
    namespace,
  }) => {
    const host = new MeasuredHost(cluster.createPath(), 1, 50);
    const holder = await hold(namespace, ["--shared"]);
    const options = ["--lock", "a", "--wait=1m", ...IDLE, ...ALONE];
    const writer = namespace.startRun(options, "true", { before: host.before });
    await namespace.waitForTicket(writer, "waiting", "a");
    expect(await namespace.run("--lock a --shared")).toExit(75);
    host.setLoad(9);
    await namespace.waitForQueue("a", 1);
    expect(await namespace.run("--lock a --shared")).toExit(0);
    host.setLoad(1);
    await namespace.waitForTicket(writer, "waiting", "a");
    expect(await holder.finish()).toExit(0);
    expect(await writer.ended).toExit(0);
  });

  test("a run whose turn comes while the load is high passes it on", async ({ namespace }) => {
    const host = new MeasuredHost(cluster.createPath(), 1, 50);
    const holder = await hold(namespace);
    const options = ["--lock", "a", "--wait", ...IDLE, ...ALONE];
    const first = namespace.startRun(options, FAIL, { before: host.before });
    await namespace.waitForTicket(first, "waiting", "a");
    const second = namespace.startRun("--lock a --wait");
    await namespace.waitForTicket(second, "waiting", "a");
    host.setLoad(9);
    expect(await holder.finish()).toExit(0);
    expect(await second.ended).toExit(0);
    expect(first.output.stderr).not.toContain("finished");
    host.setLoad(1);
    expect(await first.ended).toExit(3);
  });

  test("pressure is read from the kernel, and an error says what to do where it is missing", async ({
    namespace,
  }) => {
    const words = ["--lock", "a", "--wait=1s", "--if", "pressure.memory < 60", "--agent", "never"];
    const measured = new MeasuredHost(cluster.createPath(), 1, 50);
    expect(await namespace.run(words, "true", { before: measured.before })).toExitSilently(0);
    const bare = new MeasuredHost(cluster.createPath(), 1);
    const run = await namespace.run(words, "true", { before: bare.before });
    expect(run).toFail(78, /does not measure pressure\.memory: \/proc\/pressure\/memory .*psi=1/);
  });

  test("the agent of the host checks conditions of the runs that it serves", async () => {
    const host = new MeasuredHost(cluster.createPath(), 9, 50);
    const agent = await HostAgent.start(cluster, {}, { before: host.before });
    const { namespace } = agent;
    const run = namespace.startRun(["--lock", "a", "--wait=1m", "-v", ...IDLE]);
    await run.waitForOutput("does not hold: load is 9");
    expect(await namespace.run("--lock a")).toExit(0);
    host.setLoad(1);
    expect(await run.ended).toExit(0);

    // A run that ends grants the claim of its successor at once, but not of one with a condition.
    const holder = await hold(namespace);
    const next = namespace.startRun(["--lock", "a", "--wait=1m", "-v", ...IDLE], FAIL);
    await namespace.waitForQueue("a", 2);
    host.setLoad(9);
    expect(await holder.finish()).toExit(0);
    await next.waitForOutput("does not hold: load is 9");
    host.setLoad(1);
    expect(await next.ended).toExit(3);
  });

  test("a run that waits for a condition outlives its agent, before it was in a queue and after", async () => {
    const host = new MeasuredHost(cluster.createPath(), 9, 50);
    const how = { before: host.before };
    const agent = await HostAgent.start(cluster, {}, how);
    const { namespace } = agent;
    const holder = await hold(namespace);
    const startWaiter = () => namespace.startRun(["--lock", "a", "--wait=1m", "-v", ...IDLE], FAIL);
    const first = startWaiter();
    await first.waitForOutput("does not hold: load is 9");
    await agent.end();
    await agent.start(how);
    host.setLoad(1);
    await namespace.waitForQueue("a", 2);
    host.setLoad(9);
    expect(await holder.finish()).toExit(0);
    await namespace.waitForQueue("a", 0);
    await agent.end();
    await agent.start(how);
    host.setLoad(1);
    expect(await first.ended).toExit(3);
  });
});

/** Holds lock a until it is told to finish. */
const hold = ({ jobs }: TestNamespace, more: readonly string[] = []) =>
  jobs.startHolder("holder", ["--lock", "a", ...more]);
