/** An agent that is killed and replaced in the middle of what a run does: --timeout, leftovers, grace, drains, resets. */
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const HOST = "web1.example.com";
/** TERM comes long before KILL, so that an agent can be replaced in between. */
const ENV = { SIGNALBOX_TTL: "30s", SIGNALBOX_TERMINATION_TIMEOUT: "4s", SIGNALBOX_HOST: HOST };
/** A command that only SIGKILL ends. It says when it runs, and when it gets TERM. */
const STUBBORN = "trap 'echo term' TERM; echo up; while :; do sleep 0.05; done";

const startHost = () => HostAgent.start(cluster, ENV);

async function replaceAgent(host: HostAgent): Promise<void> {
  await host.end();
  await host.start();
}

/** Starts a stubborn command, and a run that waits for its lock and tells whether the command lives. */
async function startStubborn(host: HostAgent, options: readonly string[] = []) {
  const { namespace } = host;
  const pidFile = cluster.createPath();
  const first = namespace.startRun(
    ["--lock", "x", ...options],
    ["sh", "-c", `echo $$ >${pidFile}; ${STUBBORN}`],
  );
  await first.waitForOutput("up");
  return { first, startSecond: () => startAfter(host, pidFile) };
}

/** Starts a run that waits for the lock x, and prints whether the process in a file lives. */
async function startAfter({ namespace }: HostAgent, pidFile: string) {
  const look = `[ -d /proc/$(cat ${pidFile}) ] && echo alive || echo dead`;
  const second = namespace.startRun("--lock x --wait", ["sh", "-c", look]);
  await namespace.waitForTicket(second, "waiting", "x");
  return second;
}

async function readUptime(): Promise<number> {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
}

describe("--timeout", () => {
  test("between TERM and KILL: the next agent kills the command", async () => {
    const host = await startHost();
    const { first, startSecond } = await startStubborn(host, ["--timeout", "2s"]);
    const second = await startSecond();
    await first.waitForOutput("term");
    await replaceAgent(host);
    expect(await first.ended).toExit(124);
    await waitForDeath(first.mark, 1_000);
    expect(await second.ended).toPrint("dead\n");
  });

  test("over while there is no agent: the next one ends the command", async () => {
    const host = await startHost();
    const { first } = await startStubborn(host, ["--timeout", "2s"]);
    const over = (await readUptime()) + 2;
    await host.end();
    await waitUntil("the timeout", async () => (await readUptime()) > over);
    await host.start();
    expect(await first.ended).toExit(124);
    await waitForDeath(first.mark, 1_000);
    expect(await host.namespace.listTickets()).toEqual([]);
  });
});

describe("--kill-leftovers", () => {
  /** A command that leaves a stubborn process behind, when its file is there. */
  async function startLeaving(host: HostAgent) {
    const [pidFile, go] = [cluster.createPath(), cluster.createPath()];
    const left = `setsid sh -c 'echo $$ >${pidFile}; ${STUBBORN.replaceAll("'", '"')}' &`;
    const run = host.namespace.startRun("--lock x --kill-leftovers", [
      "sh",
      "-c",
      `${left} until [ -e ${go} ]; do sleep 0.02; done; echo over`,
    ]);
    await run.waitForOutput("up");
    return { run, second: await startAfter(host, pidFile), go };
  }

  test("between TERM and KILL: the next agent kills what is left, and then frees the lock", async () => {
    const host = await startHost();
    const { run, second, go } = await startLeaving(host);
    writeFileSync(go, "");
    await run.waitForOutput("term");
    await replaceAgent(host);
    expect(await run.ended).toExit(0);
    expect(await second.ended).toPrint("dead\n");
  });

  test("of a command that ends while there is no agent", async () => {
    const host = await startHost();
    const { run, second, go } = await startLeaving(host);
    await host.end();
    writeFileSync(go, "");
    await run.waitForOutput("over");
    await host.start();
    expect(await run.ended).toExit(0);
    expect(await second.ended).toPrint("dead\n");
  });
});

describe("--grace", () => {
  const takeLock = ({ namespace }: HostAgent, options: readonly string[]) =>
    namespace.run(["--lock", "x", ...options]);

  test("of a command that ends while there is no agent begins with the next one", async () => {
    const host = await startHost();
    const { jobs } = host;
    const options = ["--lock", "x", "--grace", "60s"];
    const run = await jobs.startHolder("job", options);
    await host.end();
    run.finish();
    await jobs.journal.waitForLine("job", "end");
    await host.start();
    expect(await run.ended).toExitSilently(0);
    await jobs.waitForTickets("job", "grace");
    expect(await takeLock(host, [])).toExit(75);
  });

  test("stands while the agent is replaced, ends in time, and only then the waiting run starts", async () => {
    const host = await startHost();
    const run = await host.jobs.startAndWait("job", "--lock x --grace 4s");
    expect(await run.ended).toExitSilently(0);
    const over = (await readUptime()) + 3.5; // the grace has begun a moment ago
    const waiting = takeLock(host, ["--wait"]);
    await waitUntil("the waiting run", async () => (await host.namespace.readQueue("x")).length === 2);
    await replaceAgent(host);
    expect(await waiting).toExitSilently(0);
    expect(await readUptime()).toBeGreaterThan(over);
  });
});

describe("a lock and leases", () => {
  test("are held, awaited and freed together over two replacements", async () => {
    const host = await startHost();
    const { namespace, jobs } = host;
    const first = await jobs.startHolder("first", "--lock x --lease db=1:2 --lease net=1:1");
    const second = await jobs.startHolder("second", "--lock y --lease db=1:2");
    const third = await jobs.startWaiter("third", "--lock x --lease db=2:2 --lease net=1:1 --wait", {
      units: 2,
    });
    const list = async () =>
      (await namespace.listTickets()).map(({ key, createRevision }) => `${key} ${createRevision}`);
    const before = await list();
    expect(before).toHaveLength(6);
    await replaceAgent(host);
    expect(await first.finish()).toExitSilently(0);
    const listThird = async () =>
      (await namespace.listTickets()).filter(({ ticket }) => ticket?.label === "third");
    await waitUntil("all leases are asked for", async () => (await listThird()).length === 3);
    const between = await list();
    expect(between).toEqual(expect.arrayContaining(before.slice(3))); // they are in the order of claims
    await replaceAgent(host);
    expect(await list()).toEqual(between);
    expect(jobs.journal.findLine("third", "start")).toBeUndefined();
    expect(await second.finish()).toExitSilently(0);
    expect(await third.ended).toExitSilently(0);
    expect(jobs.journal.findOveruse(2)).toEqual([]);
    expect(await namespace.listTickets()).toEqual([]);
  });
});

describe("a group", () => {
  test("that its host leaves while there is no agent: the next one ends the command", async () => {
    const host = await startHost();
    const { namespace } = host;
    await namespace.expectDone("group set web", HOST, "--yes");
    const { first } = await startStubborn(host, ["-g", "web"]);
    await host.end();
    await namespace.expectDone("group remove web", HOST, "--yes");
    await host.start();
    expect(await first.ended).toExit(125);
    await waitForDeath(first.mark, 1_000);
    expect(await namespace.listTickets()).toEqual([]);
  });
});

describe("a drain", () => {
  const DRAIN = ["drain", "lock", "x", "--yes"];

  test("that stops a waiting run stops it under the next agent, until it is lifted", async () => {
    const host = await startHost();
    const { namespace } = host;
    const holder = await namespace.jobs.startHolder("job", "--lock x");
    const waiting = namespace.startRun("--lock x --wait");
    await namespace.waitForTicket(waiting, "waiting", "x");
    const drain = namespace.start([...DRAIN, "--wait"]);
    await waitUntil(
      "the drain",
      async () => (await namespace.store.readRange(namespace.keys.drains())).kvs.length,
    );
    await replaceAgent(host);
    expect(await holder.finish()).toExitSilently(0);
    expect(await drain.ended).toExit(0);
    await replaceAgent(host);
    expect(await namespace.run("--lock x")).toExit(75);
    expect(waiting.child.exitCode).toBeNull();
    await namespace.expectDone("undrain lock x --yes");
    expect(await waiting.ended).toExitSilently(0);
  });

  test("that ends commands, between TERM and KILL: it returns when the command is dead", async () => {
    const host = await startHost();
    const { namespace } = host;
    const { first } = await startStubborn(host);
    const drain = namespace.start(["drain", "host", HOST, "--yes", "--wait", "--timeout", "1s", "--reset"]);
    await first.waitForOutput("term");
    await replaceAgent(host);
    const { code } = await drain.ended;
    await waitForDeath(first.mark, 1_000);
    expect([code, (await first.ended).code]).toEqual([0, 125]);
    expect(await namespace.listTickets()).toEqual([]);
  });
});

describe("a reset", () => {
  const RESET = ["reset", "lock", "x", "--yes", "--reason", "stuck"];

  test("between TERM and KILL: it returns when the command is dead, and the next run starts after that", async () => {
    const host = await startHost();
    const { first, startSecond } = await startStubborn(host);
    const second = await startSecond();
    const reset = host.namespace.start(RESET);
    await first.waitForOutput("term");
    await replaceAgent(host);
    expect(await second.ended).toPrint("dead\n");
    expect(await reset.ended).toExit(0);
    expect(await first.ended).toExit(125, { stderr: "stuck" });
  });

  test("by force, between TERM and KILL: the command is killed at once", async () => {
    const host = await startHost();
    const { first } = await startStubborn(host);
    const reset = host.namespace.start([...RESET, "--force"]);
    await first.waitForOutput("term");
    await replaceAgent(host);
    await waitForDeath(first.mark, 3_000);
    expect(await first.ended).toExit(125);
    expect(await reset.ended).toExit(0);
    expect(await host.namespace.listTickets()).toEqual([]);
  });

  test("by force while there is no agent: the next one ends the command long before its session expires", async () => {
    const host = await startHost();
    const { first } = await startStubborn(host);
    await host.end();
    expect(await host.namespace.execute([...RESET, "--force"])).toExit(0);
    await host.start();
    expect(await first.ended).toExit(125);
    await waitForDeath(first.mark, 1_000);
    expect(await host.namespace.run("--lock x")).toExitSilently(0);
  });
});
