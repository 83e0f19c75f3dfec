/** Callers in a container that has the socket of its host's agent: with a root directory of its own, and processes of its own or not. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type ContainerOptions, enterContainer } from "../../../fixtures/process/container.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const AUTO = { env: { SIGNALBOX_AGENT: "auto" } };

const enter = (host: HostAgent, options: Pick<ContainerOptions, "hasNode" | "hasOwnPids">) => ({
  before: enterContainer({ folder: host.folder, mounts: [host.folder], ...options }),
});

const CONTAINERS: [string, boolean, string][] = [
  ["processes and a root directory of its own", true, "pid namespace"],
  ["a root directory of its own, and the processes of the host", false, "root directory"],
];

describe.runIf(process.getuid?.() === 0)("a caller in a container", () => {
  describe.each(CONTAINERS)("with %s", (_, hasOwnPids, reason) => {
    test("is declined, and falls back", async () => {
      const host = await HostAgent.start(cluster);
      const { namespace } = host;
      const inside = enter(host, { hasNode: true, hasOwnPids });
      const outer = cluster.createPath("");
      const look = `[ -e ${outer} ] || echo inside`;
      const run = (options: object) => namespace.run("-v --lock x", ["sh", "-c", look], options);
      expect(await run(inside)).toFail(69, reason);
      expect(await run({ ...inside, ...AUTO })).toMatchObject({
        code: 0,
        stdout: "inside\n",
        stderr: expect.stringContaining(reason),
      });
      expect(await namespace.listTickets()).toEqual([]);
    });

    test("is declined, and says what is missing if it has no Node.js to fall back to", async () => {
      const host = await HostAgent.start(cluster);
      const inside = enter(host, { hasNode: false, hasOwnPids });
      const run = host.namespace.startRun("--lock x", "true", { ...inside, ...AUTO });
      expect(await run.ended).toFail(78, "cannot find signalbox.cjs");
    });
  });

  test("with mounts of its own only is served", async () => {
    const host = await HostAgent.start(cluster);
    const run = host.namespace.startRun("--lock x", "true", { before: ["unshare", "--mount"] });
    expect(await run.ended).toExitSilently(0);
  });

  test("is served by an agent in its container, beside that of the host", async () => {
    const host = await HostAgent.start(cluster);
    const { namespace } = host;
    const [socket, go] = [join(host.folder, "inner/agent.sock"), join(host.folder, "go")];
    const env = { SIGNALBOX_AGENT_SOCKET: socket };
    const container = enter(host, { hasNode: true, hasOwnPids: true });
    const agent = namespace.start("agent", { ...container, env });
    await agent.waitForOutput("ready");
    const { pid } = listMarkedProcesses(agent.mark).find(({ parent }) => parent === agent.pid) ?? {};
    const before = ["nsenter", "--target", String(pid), "--mount", "--pid", "--root", "--wd"];
    const runInside = (command: readonly string[]) =>
      namespace.startRun("--lock x --wait", command, { before, env });
    const first = runInside(["sh", "-c", `readlink /proc/self; until [ -e ${go} ]; do sleep 0.02; done`]);
    await first.waitForOutput(/^\d{1,2}\n/); // an id of the container
    const [outside, second] = [namespace.startRun("--lock x --wait"), runInside(["true"])];
    await waitUntil("both wait", async () => {
      const states = (await namespace.readQueue("x")).map(({ ticket }) => ticket?.state);
      return states.join() === "held,waiting,waiting";
    });
    writeFileSync(go, "");
    expect(await first.ended).toExit(0, { stderr: "" });
    expect(await outside.ended).toExitSilently(0);
    expect(await second.ended).toExitSilently(0);
    killProcess(pid, "SIGKILL"); // ends the container
    await agent.ended;
    expect(await namespace.run("--lock x")).toExitSilently(0);
  });
});
