/** `--retries`: the claim is held between the attempts, and what ends a run ends it there too. */
import { describe, expect } from "vitest";
import { expireSession } from "../../../fixtures/cluster/expire-session.ts";
import { IS_WITH_AGENT } from "../../../fixtures/cluster/test-agents.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Prints the number of the attempt, and fails before the third one. */
const FAIL_TWICE = [
  "sh",
  "-c",
  'echo "attempt $SIGNALBOX_ATTEMPT $SIGNALBOX_TOKEN"; test "$SIGNALBOX_ATTEMPT" = 3',
];
const IN_WAIT = /will be retried/;

/** A run that has failed once, with 7, and waits for hours. */
async function startWaiting(namespace: TestNamespace, options: readonly string[] = []) {
  const words = ["-v", "--lock", "job", "--retries", "3", "--retry-wait", "1h", ...options];
  const run = namespace.startRun(words, ["sh", "-c", "echo ran; exit 7"]);
  await run.waitForOutput(IN_WAIT);
  return run;
}

const countAttempts = (stdout: string) => stdout.split("\n").filter((line) => line === "ran").length;

describe.concurrent("retries", () => {
  test("a failed command is started again with the same token, until it succeeds", async ({ namespace }) => {
    const words = ["--lock", "job", "--retries", "5", "--retry-wait", "1ms"];
    const { code, stdout, stderr } = await namespace.run(words, FAIL_TWICE);
    const [, token] = /^attempt 1 (\d+)$/m.exec(stdout) ?? [];
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `attempt 1 ${token}\nattempt 2 ${token}\nattempt 3 ${token}\n`,
      stderr: "",
    });
    expect(await namespace.listTickets()).toEqual([]);
  });

  test("the exit code is that of the last attempt", async ({ namespace }) => {
    const words = ["--lock", "job", "--retries", "2", "--retry-wait", "1ms"];
    const { code, stdout } = await namespace.run(words, [
      "sh",
      "-c",
      "echo ran; exit $((10 + SIGNALBOX_ATTEMPT))",
    ]);
    expect({ code, count: countAttempts(stdout) }).toEqual({ code: 13, count: 3 });
  });

  test("the lock stays taken between the attempts; TERM ends the wait, with the code of the attempt", async ({
    namespace,
  }) => {
    const run = await startWaiting(namespace);
    expect(await namespace.run("--lock job", "echo other")).toExitSilently(75);
    run.kill("SIGTERM");
    const { code, stdout } = await run.ended;
    expect({ code, count: countAttempts(stdout) }).toEqual({ code: 7, count: 1 });
    expect(await namespace.listTickets()).toEqual([]);
  });

  test("TERM during an attempt: no other one follows", async ({ namespace }) => {
    const words = ["--lock", "job", "--retries", "3", "--retry-wait", "1ms"];
    const run = await namespace.startHolder(words);
    run.kill("SIGTERM");
    const { code, stdout } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 143, stdout: "up\n" });
  });

  test("a reset ends the wait", async ({ namespace }) => {
    const run = await startWaiting(namespace);
    await namespace.expectDone("reset lock job --yes");
    const { code, stdout, stderr } = await run.ended;
    expect({ code, count: countAttempts(stdout) }).toEqual({ code: 125, count: 1 });
    expect(stderr).toMatch(/the claim was lost.*reset by/);
  });

  test("a session that etcd ends in the wait: nothing is started again", async ({ namespace }) => {
    const run = await startWaiting(namespace);
    await expireSession(namespace, "job");
    const { code, stdout } = await run.ended;
    expect({ code, count: countAttempts(stdout) }).toEqual({ code: 125, count: 1 });
  });

  test("a runner that is frozen in the wait while its session ends starts nothing when it continues", async ({
    namespace,
  }) => {
    const words = ["-v", "--lock", "job", "--retries", "1", "--retry-wait", "12s"];
    const run = namespace.startRun(words, ["sh", "-c", "echo ran; exit 7"]);
    await run.waitForOutput(IN_WAIT);
    const longest = performance.now() + 15_000;
    killProcess(run.pid, "SIGSTOP");
    await expireSession(namespace, "job");
    const other = await namespace.startHolder("--lock job");
    await waitUntil("the wait is over", async () => performance.now() > longest);
    killProcess(run.pid, "SIGCONT"); // its timer fires before it learns of the loss
    const { code, stdout } = await run.ended;
    expect({ code, count: countAttempts(stdout) }).toEqual({ code: 125, count: 1 });
    await other.end();
  });

  test("a runner that is killed in the wait leaves no process", async ({ namespace }) => {
    const run = await startWaiting(namespace);
    killProcess(run.pid, "SIGKILL");
    await run.ended;
    await waitUntil("no process is left", async () => listMarkedProcesses(run.mark).length === 0);
    if (!IS_WITH_AGENT) await expireSession(namespace, "job"); // an agent frees the lock
    expect(await namespace.run("--wait --lock job", "echo other")).toPrint("other\n");
  });

  test("--timeout applies to each attempt", async ({ namespace }) => {
    const words = ["--lock", "job", "--timeout", "1s", "--retries", "1", "--retry-wait", "1ms"];
    const command = ["sh", "-c", 'if test "$SIGNALBOX_ATTEMPT" = 1; then exec sleep 1000; fi; echo done'];
    const { code, stdout } = await namespace.run(words, command);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
  });

  test("--max-hold applies to all attempts: a retry for which it leaves no time is not made", async ({
    namespace,
  }) => {
    const words = ["--lock", "job", "--max-hold", "10m", "--retries", "3", "--retry-wait", "1h"];
    const { code, stdout } = await namespace.run(words, ["sh", "-c", "echo ran; exit 7"]);
    expect({ code, count: countAttempts(stdout) }).toEqual({ code: 7, count: 1 });
  });

  test("a command that cannot be started is not retried", async ({ namespace }) => {
    const { code } = await namespace.run("--lock job --retries 3 --retry-wait 1h", "/nowhere/at/all");
    expect(code).toBe(127);
  });

  test("with --capture, the output of all attempts is kept", async ({ namespace }) => {
    const env = { SIGNALBOX_OUTPUT_DIRECTORY: cluster.createPath(), SIGNALBOX_OUTPUT_SIZE: "1MiB" };
    const words = ["--capture", "--lock", "job", "--retries", "5", "--retry-wait", "1ms"];
    const { code, stdout } = await namespace.run(words, FAIL_TWICE, { env });
    expect({ code, count: stdout.split("\n").length }).toEqual({ code: 0, count: 4 });
    const logs = await namespace.execute("logs job", { env });
    expect(logs.stdout).toMatch(/attempt 1 .*attempt 2 .*attempt 3 /s);
  });

  test("--retry-wait without --retries is an error", async ({ namespace }) => {
    expect(await namespace.run("--lock job --retry-wait 1s")).toFail(
      64,
      /--retry-wait has an effect only with --retries/,
    );
  });
});
