/** Retries, jitter, quiet output, pings and hooks of runs that an agent serves; and what it declines. */
import { readFileSync, rmSync } from "node:fs";
import { describe, expect } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("an agent serves retries, jitter and quiet output", async () => {
  const { namespace } = await HostAgent.start(cluster); // with `always`: no run falls back
  const words = ["--lock", "job", "--retries", "2", "--retry-wait", "1ms", "--jitter", "2ms"];
  const count = 'echo "$SIGNALBOX_ATTEMPT $SIGNALBOX_TOKEN"; test "$SIGNALBOX_ATTEMPT" =';
  const retried = await namespace.run(words, ["sh", "-c", `${count} 3`]);
  const [, token] = /^1 (\d+)$/m.exec(retried.stdout) ?? [];
  expect(retried).toPrint(`1 ${token}\n2 ${token}\n3 ${token}\n`);
  expect(await namespace.run([...words, "--quiet-success"], ["sh", "-c", `${count} 3`])).toExitSilently(0);
  expect(await namespace.run([...words, "--quiet-success"], ["sh", "-c", `${count} 4`])).toExit(1, {
    stdout: /^1 .*\n2 .*\n3 .*\n$/,
    stderr: "",
  });
  expect(await namespace.listTickets()).toEqual([]);
});

test("an agent declines --capture: the launcher falls back, and the agent's other runs respect the lock", async () => {
  const { namespace } = await HostAgent.start(cluster);
  expect(await namespace.run(["--lock", "job", "--capture"], "echo ran")).toFail(69, "--capture");
  const run = await namespace.startHolder(["--lock", "job", "-v", "--capture", "--on-success=true"], {
    env: { SIGNALBOX_AGENT: "auto" },
  });
  expect(run.output.stderr).toMatch(/no agent serves this run.*--capture/);
  expect(await namespace.run("--lock job", "echo served by the agent")).toExitSilently(75);
  await run.end();
  expect(await namespace.run("--lock job", "echo served by the agent")).toPrint("served by the agent\n");
});

/** Creates a hook that keeps its input and the caller's WORD. */
function createHook() {
  const path = cluster.createPath();
  const read = () => {
    const [json = "", word] = readFileSync(path, "utf8").split("\n");
    return { ...JSON.parse(json), word };
  };
  return { line: `sh -c 'cat > ${path}; echo "$WORD" >> ${path}'`, read };
}

describe("pings and hooks of a run that an agent serves", () => {
  test("are called by the launcher, with its environment, the output, and what the agent knows of the run", async () => {
    const { namespace } = await HostAgent.start(cluster, {}, { env: { WORD: "of the agent" } });
    const { url, requests } = await startWebServer();
    const hook = createHook();
    const words = ["--lock", "job", "--ping", `${url}/u`, "--on-failure", hook.line];
    const command = ["sh", "-c", 'echo out; echo "$SIGNALBOX_RUN" >&2; exit 5'];
    const run = await namespace.run(words, command, { env: { WORD: "of the caller" } });
    expect(run).toExit(5, { stdout: "out\n" });
    expect(requests.map(({ path }) => path)).toEqual(["/u/start", "/u/5"]);
    const id = run.stderr.trim();
    expect(requests[1]?.body).toContain(id);
    const times = { startedAt: expect.any(Number), endedAt: expect.any(Number) };
    const told = { event: "failure", locks: ["job"], command: "sh", run: id, code: 5, result: "failed" };
    expect(hook.read()).toMatchObject({ ...told, ...times, word: "of the caller" });
    expect(hook.read().tail).toContain(id);
  });

  test("get the end of output that fills all buffers, and of output that is held back", async () => {
    const { namespace } = await HostAgent.start(cluster);
    for (const options of [[], ["--quiet-success"]]) {
      const hook = createHook();
      const words = ["--lock", "job", ...options, "--on-failure", hook.line];
      const command = ["sh", "-c", "seq 400000; echo 'no space left'; exit 1"];
      const { stdout } = await namespace.run(words, command);
      expect(stdout.length).toBe(2_688_909);
      expect(hook.read().tail).toMatch(/\n399999\n400000\nno space left$/);
    }
  });

  test("start nothing at an end for which there is no hook, and all output passes", async () => {
    const { namespace } = await HostAgent.start(cluster);
    const hook = createHook();
    const words = ["--lock", "job", "--on-failure", hook.line];
    const run = await namespace.run(words, ["sh", "-c", "seq 400000; echo end >&2"]);
    expect({ ...run, stdout: run.stdout.length }).toMatchObject({
      code: 0,
      stdout: 2_688_895,
      stderr: "end\n",
    });
    expect(hook.read).toThrow("ENOENT");
  });

  test("tell of a command that was killed because no agent has followed", async () => {
    const host = await HostAgent.start(cluster, SHORT_SESSIONS);
    const { url, requests } = await startWebServer();
    const words = ["--lock", "job", "--ping", url];
    const run = host.namespace.startRun(words, ["sh", "-c", "echo ready; exec sleep 1000"]);
    await run.waitForOutput("ready");
    await host.end();
    expect(await run.ended).toExit(125, { stdout: "ready\n", stderr: /the agent has ended/ });
    expect(requests.map(({ path }) => path)).toEqual(["/start", "/125"]);
    expect(requests[1]?.body).toMatch(/^job was interrupted\n[\s\S]*ready$/);
  });

  test("tell of an agent's successor how the command has ended", async () => {
    const host = await HostAgent.start(cluster);
    const hook = createHook();
    const path = cluster.createPath("");
    const command = `echo ready; while test -e ${path}; do sleep 0.05; done; exit 3`;
    const run = host.namespace.startRun(["--lock", "job", "--on-failure", hook.line], ["sh", "-c", command]);
    await run.waitForOutput("ready");
    await host.end();
    await host.start();
    await waitUntil("a takeover", async () => {
      const [ticket] = await host.namespace.readQueue("job");
      const sessions = await host.namespace.listSharedSessions();
      return sessions.some(({ id, pid }) => id === ticket?.session && pid === host.process.pid);
    });
    rmSync(path);
    expect(await run.ended).toExit(3, { stdout: "ready\n" });
    expect(hook.read()).toMatchObject({ code: 3, result: "failed", tail: "ready" });
  });
});
