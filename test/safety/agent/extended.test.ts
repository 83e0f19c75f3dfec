/** Retries, jitter and quiet output of runs that an agent serves; and what it declines. */
import { expect } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

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

test("an agent declines pings and hooks: the launcher falls back, and the agent's other runs respect the lock", async () => {
  const { namespace } = await HostAgent.start(cluster);
  for (const option of ["--ping=http://127.0.0.1:1/", "--on-failure=true", "--on-success=true"])
    expect(await namespace.run(["--lock", "job", option], "echo ran")).toFail(69, option.split("=")[0] ?? "");
  const run = await namespace.startHolder(["--lock", "job", "-v", "--on-success=true"], {
    env: { SIGNALBOX_AGENT: "auto" },
  });
  expect(run.output.stderr).toMatch(/no agent serves this run.*--on-success/);
  expect(await namespace.run("--lock job", "echo served by the agent")).toExitSilently(75);
  await run.end();
  expect(await namespace.run("--lock job", "echo served by the agent")).toPrint("served by the agent\n");
});
