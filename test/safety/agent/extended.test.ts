/** Runs with options that an agent does not serve. */
import { expect } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("an agent declines retries, pings, hooks, jitter and quiet output: the launcher falls back, and the agent's other runs respect the lock", async () => {
  const { namespace } = await HostAgent.start(cluster);
  const auto = { env: { SIGNALBOX_AGENT: "auto" } };
  const retried = ["-v", "--lock", "job", "--retries", "2", "--retry-wait", "1ms"];
  const { code, stderr } = await namespace.run(retried, ["sh", "-c", 'test "$SIGNALBOX_ATTEMPT" = 3'], auto);
  expect(code).toBe(0);
  expect(stderr).toMatch(/no agent serves this run.*--retries/);
  const waiting = ["-v", "--lock", "job", "--retries", "2", "--retry-wait", "1h"];
  const run = namespace.startRun(waiting, "false", auto);
  await run.waitForOutput("will be retried");
  expect(await namespace.run("--lock job", "echo served by the agent")).toExitSilently(75);
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(1);
  expect(await namespace.run("--lock job", "echo served by the agent")).toPrint("served by the agent\n");
  for (const option of [
    "--quiet-success",
    "--jitter=1ms",
    "--ping=http://127.0.0.1:1/",
    "--on-failure=true",
    "--on-success=true",
  ])
    expect(await namespace.run(["--lock", "job", option], "echo ran")).toFail(69, option.split("=")[0] ?? "");
});
