/** The agent's socket, its users, and what a run keeps when the agent is replaced. */
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { uptime } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, SHORT_TTL_MS } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const AUTO = { env: { SIGNALBOX_AGENT: "auto" } };
/** A user and group without privileges. */
const OTHER = 65534;
const AS_OTHER = ["setpriv", `--reuid=${OTHER}`, `--regid=${OTHER}`, "--clear-groups"];

/** Starts a job that ends when it is told to finish. */
const startJob = ({ namespace }: HostAgent, options: readonly string[] = []) =>
  namespace.jobs.startHolder("job", ["--lock", "x", ...options]);

const runTrue = (host: HostAgent, options: object = {}, flags: readonly string[] = []) =>
  host.namespace.run(["--lock", "y", ...flags], "true", options);

test("the socket is deleted: what runs goes on, new runs fall back until the agent makes it again", async () => {
  const host = await HostAgent.start(cluster);
  const run = await startJob(host);
  rmSync(host.socket);
  expect(await runTrue(host)).toFail(69, "there is no socket");
  expect(await runTrue(host, AUTO)).toExitSilently(0);
  await host.process.waitForOutput("the socket was removed; it has been restored");
  expect(await runTrue(host)).toExitSilently(0);
  expect(await run.finish()).toExitSilently(0);
});

test("the folder of the socket is deleted: the next agent knows the runs of this one", async () => {
  const host = await HostAgent.start(cluster);
  const run = await startJob(host);
  rmSync(host.folder, { recursive: true });
  await host.process.waitForOutput("the socket was removed; it has been restored");
  await waitUntil("the key", () => existsSync(join(host.folder, "agent.key")));
  await host.end();
  await host.start();
  expect(await run.finish()).toExitSilently(0);
});

test.runIf(process.getuid?.() === 0)(
  "the socket is replaced by another user: the agent says so once",
  async () => {
    const host = await HostAgent.start(cluster);
    rmSync(host.socket);
    writeFileSync(host.socket, "");
    chownSync(host.socket, OTHER, OTHER);
    const said = /launchers cannot find this agent.*it was replaced/;
    await host.process.waitForOutput(said);
    expect(await runTrue(host)).toFail(77, "belongs to another user");
    rmSync(host.socket);
    await host.process.waitForOutput("it has been restored");
    expect(await runTrue(host)).toExitSilently(0);
    expect(host.process.output.stderr.match(new RegExp(said, "g"))).toHaveLength(1);
  },
);

test.runIf(process.getuid?.() === 0)("the socket belongs to another user: it is not used", async () => {
  const host = await HostAgent.start(cluster);
  chownSync(host.socket, OTHER, OTHER);
  expect(await runTrue(host)).toFail(77, "belongs to another user");
  expect(await runTrue(host, AUTO)).toExitSilently(0);
});

test.runIf(process.getuid?.() === 0)("jobs of other users: served only if the agent allows it", async () => {
  const host = await HostAgent.start(cluster);
  const as = { before: AS_OTHER, cwd: "/" };
  expect(await runTrue(host, as)).toFail(69, "does not serve user");
  await host.end();
  await host.start({ env: { SIGNALBOX_AGENT_ALLOW: String(OTHER) } });
  const served = await host.namespace.run("--lock z", "id -u", as);
  expect(served).toPrint(`${OTHER}\n`);
});

test.runIf(process.getuid?.() === 0)(
  "runs of other users are in the archive of the agent, and do not choose what it removes there",
  async () => {
    const host = await HostAgent.start(cluster);
    await host.end();
    const archive = cluster.createPath();
    await host.start({ env: { SIGNALBOX_AGENT_ALLOW: String(OTHER), SIGNALBOX_ARCHIVE_FILE: archive } });
    const full = `${archive}.20260101T000000000Z-000000000000`;
    writeFileSync(full, "");
    writeFileSync(archive, `${"x".repeat(8_192)}\n`);
    const env = { SIGNALBOX_ARCHIVE_SIZE: "4K", SIGNALBOX_ARCHIVE_COUNT: "1" };
    expect(await runTrue(host, { before: AS_OTHER, cwd: "/", env })).toExitSilently(0);
    await waitUntil("the run is archived", () => readFileSync(archive, "utf8").includes('"lock":"y"'));
    expect(readFileSync(archive, "utf8")).toMatch(/^x/);
    expect(existsSync(full)).toBe(true);
  },
);

test.runIf(process.getuid?.() === 0)("a caller in another pid namespace falls back", async () => {
  const host = await HostAgent.start(cluster);
  const before = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
  expect(await runTrue(host, { before })).toFail(69, "pid namespace");
  expect(await runTrue(host, { before, ...AUTO })).toExitSilently(0);
});

test("a flood of clients that are silent, or never stop sending, does not cost a job its claim", async () => {
  const host = await HostAgent.start(cluster, SHORT_SESSIONS);
  const run = await startJob(host);
  const clients: Socket[] = [];
  const open = (isTalking: boolean) => {
    const client = connect(host.socket).on("error", () => {});
    if (isTalking) client.on("connect", () => client.write(Buffer.alloc(1 << 20, 0xff)));
    clients.push(client);
  };
  for (let at = 0; at < 10_000; at++) open(at % 10 === 0);
  const renewed = Date.now() + SHORT_TTL_MS + 2_000; // longer than its session
  while (Date.now() < renewed) {
    for (let at = 0; at < 20; at++) open(true);
    await new Promise((next) => setTimeout(next, 100));
    expect(run.child.exitCode).toBeNull();
  }
  for (const client of clients) client.destroy();
  expect(await run.finish()).toExitSilently(0);
  expect(await runTrue(host, AUTO)).toExitSilently(0);
});

test("--timeout counts from the start of the command, not from the start of the next agent", async () => {
  const host = await HostAgent.start(cluster);
  const run = await startJob(host, ["--timeout", "10s"]);
  const start = host.jobs.journal.findLine("job", "start")?.uptime ?? 0;
  await host.end();
  await waitUntil("a part of its time has passed", () => uptime() > start + 4);
  const restarted = uptime();
  await host.start();
  expect(await run.ended).toExit(124);
  const last = host.jobs.journal.readLines().at(-1)?.uptime ?? 0;
  expect(last - start).toBeGreaterThan(9);
  expect(last).toBeLessThan(restarted + 10);
});

test("a reset while there is no agent: the next one ends the job", async () => {
  const host = await HostAgent.start(cluster);
  const run = await startJob(host);
  await host.end();
  expect(await host.namespace.execute("reset lock x --yes --no-wait")).toBeDefined();
  await host.start();
  expect(await run.ended).toExit(125);
  expect(await host.namespace.listTickets()).toEqual([]);
});

test("--grace and leases are kept across a restart", async () => {
  const host = await HostAgent.start(cluster);
  const run = await startJob(host, ["--grace", "60s", "--lease", "db=1:1"]);
  await host.end();
  await host.start();
  expect(await runTrue(host, {}, ["--lease", "db=1:1", "--lease-timeout", "1s"])).toExit(75);
  expect(await run.finish()).toExitSilently(0);
  expect((await host.namespace.listTickets()).map(({ ticket }) => ticket?.state)).toEqual(["grace"]);
});
