/** `--ping`, `--on-failure`, `--on-success`: what they tell, and that they cost the job nothing. */
import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { startRawServer, startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe("--ping", () => {
  test("tells start and success", async ({ namespace }) => {
    const { url, requests } = await startWebServer();
    expect(await namespace.run(["--lock", "job", "--ping", `${url}/ping/uuid?create=1`], "echo ran")).toPrint(
      "ran\n",
    );
    expect(requests.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      { method: "POST", path: "/ping/uuid/start?create=1", body: "" },
      { method: "POST", path: "/ping/uuid?create=1", body: "" },
    ]);
  });

  test("tells a failure with the exit code and the last lines of the output", async ({ namespace }) => {
    const { url, requests } = await startWebServer();
    const command = ["sh", "-c", "exec 2>&1; seq 2000; echo 'no space left'; exit 3"];
    const { code, stdout, stderr } = await namespace.run(["--lock", "job", "--ping", `${url}/u/`], command);
    expect({ code, length: stdout.length, stderr }).toEqual({
      code: 3,
      length: 8_907,
      stderr: "",
    });
    expect(requests.map(({ path }) => path)).toEqual(["/u/start", "/u/3"]);
    expect(requests[1]?.body).toMatch(/^job has failed with exit code 3\n\n[\d\n]*\n2000\nno space left$/);
    expect(requests[1]?.body.length).toBeLessThan(2_000);
  });

  test("tells the failure of a program that does not exist, and of a run whose claim was lost", async ({
    namespace,
  }) => {
    const { url, requests } = await startWebServer();
    expect((await namespace.run(["--lock", "a", "--ping", url], "/nowhere/at/all")).code).toBe(127);
    const holder = await namespace.startHolder(["--lock", "b", "--ping", url]);
    await namespace.expectDone("reset lock b --yes");
    expect((await holder.ended).code).toBe(125);
    expect(requests.map(({ path }) => path)).toEqual(["/start", "/127", "/start", "/125"]);
  });

  test("tells nothing of a run that does not get the lock", async ({ namespace }) => {
    const { url, requests } = await startWebServer();
    const holder = await namespace.startHolder("--lock job");
    const words = ["--lock", "job", "--ping", url, "--on-failure", url, "--on-success", url];
    expect(await namespace.run(words, "echo ran")).toExitSilently(75);
    expect(requests).toEqual([]);
    await holder.end();
  });

  test("one start and one end with retries", async ({ namespace }) => {
    const { url, requests } = await startWebServer();
    const words = ["--lock", "job", "--retries", "3", "--retry-wait", "1ms", "--ping", url];
    expect((await namespace.run(words, ["sh", "-c", "exit $((3 - SIGNALBOX_ATTEMPT))"])).code).toBe(0);
    expect(requests.map(({ path }) => path)).toEqual(["/start", "/"]);
  });

  test("an endpoint that never answers: the command runs, the lock is free before the call at the end, TERM ends that", async ({
    namespace,
  }) => {
    const { url, requests } = await startWebServer(() => {});
    const run = namespace.startRun(["--lock", "job", "--ping", url], "echo ran");
    await run.waitForOutput("ran");
    await waitUntil("the call at the end", async () => requests.some(({ path }) => path === "/"));
    expect(await namespace.readQueue("job")).toEqual([]);
    run.kill("SIGTERM");
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ran\n" });
    expect(stderr).toMatch(/a hook failed.*127\.0\.0\.1/);
    expect(stderr).not.toContain("ping+");
  });

  test("an endpoint that closes connections, and one that does not exist: the exit code stays", async ({
    namespace,
  }) => {
    const { url } = await startRawServer((socket) => socket.destroy());
    for (const ping of [url, "http://127.0.0.1:1/x"]) {
      const { code, stdout } = await namespace.run(
        ["--lock", "job", "--ping", ping],
        ["sh", "-c", "echo ran; exit 4"],
      );
      expect({ code, stdout }).toEqual({ code: 4, stdout: "ran\n" });
    }
  });
});

describe("hooks", () => {
  test("a command gets the event as JSON and in variables, when the lock is free", async ({ namespace }) => {
    const file = cluster.createPath();
    const hook = `sh -c 'cat > ${file}; echo "$SIGNALBOX_EVENT $SIGNALBOX_LOCKS $SIGNALBOX_CODE" >> ${file}'`;
    const words = ["--lock", "job", "--on-failure", hook, "--on-success", "false"];
    const { code, stderr } = await namespace.run(words, ["sh", "-c", "echo bad >&2; exit 5"]);
    expect({ code, stderr }).toEqual({ code: 5, stderr: "bad\n" });
    const [json = "", variables] = readFileSync(file, "utf8").split("\n");
    expect(variables).toBe("failure job 5");
    expect(JSON.parse(json)).toMatchObject({
      version: 1,
      event: "failure",
      locks: ["job"],
      command: "sh",
      code: 5,
      result: "failed",
      tail: "bad",
    });
    expect(JSON.parse(json)).not.toHaveProperty("schedule");
  });

  test("of a success; a hook that fails is reported, and the exit code stays", async ({ namespace }) => {
    const words = ["--lock", "job", "--on-failure", "touch /nowhere/x", "--on-success", "sh -c 'exit 9'"];
    const { code, stderr } = await namespace.run(words, "true");
    expect(code).toBe(0);
    expect(stderr).toMatch(/a hook failed.*exit code 9/);
  });

  test("an order of a launcher to another process means nothing, and no command gets it", async ({
    namespace,
  }) => {
    const env = { SIGNALBOX_HOOKS: '{"pid":1,"run":{"host":"h"},"end":{"code":0}}' };
    const words = ["--lock", "job", "--on-success", "false"];
    const run = await namespace.run(words, ["sh", "-c", 'echo "ran$SIGNALBOX_HOOKS"; exit 3'], { env });
    expect(run).toExit(3, { stdout: "ran\n", stderr: "" });
  });

  test("a line that needs a shell, and an address that is none, are errors before anything is claimed", async ({
    namespace,
  }) => {
    expect(await namespace.run(["--lock", "job", "--on-failure", "a && b"])).toFail(64, /--on-failure/);
    expect(await namespace.run(["--lock", "job", "--on-success", "ftp://x"])).toFail(64, /--on-success/);
    expect(await namespace.run(["--lock", "job", "--ping", "hc-ping.com/x"])).toFail(
      64,
      /--ping must be an address/,
    );
  });
});
