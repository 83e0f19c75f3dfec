/** `--quiet-success`: output only of a command that fails; and `--jitter`. */
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const QUIET = ["--lock", "job", "--quiet-success"];

describe.concurrent("--quiet-success", () => {
  test("nothing of a success, everything of a failure, with its exit code", async ({ namespace }) => {
    expect(await namespace.run(QUIET, ["sh", "-c", "echo out; echo err >&2"])).toExitSilently(0);
    const { code, stdout, stderr } = await namespace.run(QUIET, [
      "sh",
      "-c",
      "echo out; echo err >&2; exit 3",
    ]);
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: "out\n", stderr: "err\n" });
  });

  test("the order of both outputs is kept if they are one", async ({ namespace }) => {
    const job = 'for i in 1 2 3; do echo "out $i"; echo "err $i" >&2; done; exit 1';
    const { stdout } = await namespace.run(
      ["--lock", "outer"],
      [
        "sh",
        "-c",
        `"$@" 2>&1; echo "code $?"`,
        "sh",
        process.execPath,
        BUNDLE,
        "run",
        ...QUIET,
        "--",
        "sh",
        "-c",
        job,
      ],
    );
    expect(stdout).toBe("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\ncode 1\n");
  });

  test("output of any length, and bytes that are no text", async ({ namespace }) => {
    const { code, stdout } = await namespace.run(QUIET, ["sh", "-c", "seq 3000000; exit 1"]);
    expect({ code, length: stdout.length, end: stdout.slice(-8) }).toEqual({
      code: 1,
      length: 22_888_896,
      end: "3000000\n",
    });
  });

  test("a command that takes too long, or that a signal ends, has failed", async ({ namespace }) => {
    const words = [...QUIET, "--timeout", "1s"];
    const late = await namespace.run(words, ["sh", "-c", "echo out; exec sleep 1000"]);
    expect({ code: late.code, stdout: late.stdout }).toEqual({ code: 124, stdout: "out\n" });
    const killed = await namespace.run(QUIET, ["sh", "-c", "echo out; kill -9 $$"]);
    expect({ code: killed.code, stdout: killed.stdout }).toEqual({ code: 137, stdout: "out\n" });
  });

  test("with retries: nothing if the last attempt succeeds, else the output of all", async ({
    namespace,
  }) => {
    const words = [...QUIET, "--retries", "2", "--retry-wait", "1ms"];
    const command = (last: string) => [
      "sh",
      "-c",
      `echo "$SIGNALBOX_ATTEMPT"; test "$SIGNALBOX_ATTEMPT" = ${last}`,
    ];
    expect(await namespace.run(words, command("2"))).toExitSilently(0);
    expect(await namespace.run(words, command("4"))).toExit(1, { stdout: "1\n2\n3\n", stderr: "" });
  });

  test("without a folder for the file, the output passes as usual", async ({ namespace }) => {
    const { code, stdout, stderr } = await namespace.run(QUIET, "echo out", { env: { TMPDIR: "/nowhere" } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "out\n" });
    expect(stderr).toContain("output is not held back");
  });
});

test("with other options: with --capture and --ping, both get the output of a success and of a failure", async ({
  namespace,
}) => {
  const env = { SIGNALBOX_OUTPUT_DIRECTORY: cluster.createPath(), SIGNALBOX_OUTPUT_SIZE: "1MiB" };
  const { url, requests } = await startWebServer();
  const words = [...QUIET, "--capture", "--ping", url];
  expect(await namespace.run(words, "echo fine", { env })).toExitSilently(0);
  expect((await namespace.execute("logs job", { env })).stdout).toContain("fine");
  const { code, stdout } = await namespace.run(words, ["sh", "-c", "echo bad; exit 2"], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "bad\n" });
  expect(requests.at(-1)).toMatchObject({ path: "/2", body: expect.stringMatching(/bad$/) });
});

describe.concurrent("--jitter", () => {
  test("waits equally long for the same lock on all hosts, without a ticket; a signal ends the wait", async ({
    namespace,
  }) => {
    const wait = async (lock: string, host: string) => {
      const run = namespace.startRun(["-v", "--lock", lock, "--host", host, "--jitter", "100h"]);
      await run.waitForOutput(/waiting .*--jitter: .*\n/);
      expect(await namespace.readQueue(lock)).toEqual([]);
      run.kill("SIGTERM");
      const { signal, code, stderr } = await run.ended;
      expect(signal ?? code).toBe(143);
      return /--jitter: [^"\n]+/.exec(stderr)?.[0];
    };
    const first = await wait("a", "one.example");
    expect(await wait("a", "two.example")).toBe(first);
    expect(await wait("b", "one.example")).not.toBe(first);
  });

  test("a short one only delays the run", async ({ namespace }) => {
    expect(await namespace.run("--lock job --jitter 2ms", "echo ran")).toPrint("ran\n");
  });
});
