/** Streams, signals and the log of a run. */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Runs a pipeline of the shell in which "$@" is `signalbox run` with its options. @returns its exit code */
async function runPipeline(text: string, options: string[] = []): Promise<number | null> {
  const namespace = cluster.createNamespace();
  const env = { ...process.env, ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.etcd.clientUrl };
  const args = ["-c", text, "sh", process.execPath, BUNDLE, "run", ...options];
  const [code] = await once(spawn("bash", args, { env, stdio: "inherit" }), "exit");
  return code;
}

describe.concurrent("streams", () => {
  test("standard input, output and error pass byte for byte", async () => {
    const bytes = randomBytes(1_000_000);
    const [input, output, errors] = [cluster.createPath(), cluster.createPath(), cluster.createPath()];
    writeFileSync(input, bytes);
    const code = await runPipeline(`"$@" -- sh -c 'tee /dev/fd/2; exit 3' <${input} >${output} 2>${errors}`);
    expect(code).toBe(3);
    expect(readFileSync(output).equals(bytes), "standard output").toBe(true);
    expect(readFileSync(errors).equals(bytes), "standard error").toBe(true);
  });

  test("an input that ends, and one that is closed, are what the command sees", async () => {
    expect(await runPipeline(`printf '' | "$@" -- sh -c '! read line'`)).toBe(0);
    expect(await runPipeline(`"$@" -- sh -c '! [ -e /proc/self/fd/0 ] || ! read line' <&-`)).toBe(0);
  });

  test("1,000 lines to a reader that closes early: the command ends as it would without us", async () => {
    const lines = "i=0; while [ $i -lt 1000 ]; do echo line $i || exit 9; i=$((i+1)); done";
    const count = cluster.createPath();
    // The pipe holds no more than a page or so before its reader has gone: the writer waits for that.
    const wait = `until [ -e ${count} ]; do sleep 0.1; done`;
    const script = `"$@" -- sh -c 'echo first; ${wait}; ${lines}' | { read line; exec 0<&-; echo "$line" >${count}; }; exit \${PIPESTATUS[0]}`;
    expect(await runPipeline(script), "SIGPIPE, as the shell says it").toBe(141);
    expect(readFileSync(count, "utf8")).toBe("first\n");
  });

  test("a reader that closes before a waiting run starts its command has no effect on the run", async () => {
    expect(await runPipeline(`"$@" -- true | true; exit \${PIPESTATUS[0]}`)).toBe(0);
  });

  test("what stands on the terminal's side is not ours: nothing of our own goes to standard output", async ({
    namespace,
  }) => {
    expect(await namespace.run("-vv", "printf x")).toMatchObject({ code: 0, stdout: "x" });
  });
});

const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const NUMBERS = { SIGTERM: 15, SIGINT: 2, SIGHUP: 1, SIGQUIT: 3, SIGUSR1: 10, SIGUSR2: 12 };
/** Says which signal came, and ends with 3. */
const LISTENER = [
  "sh",
  "-c",
  `${FORWARDED.map((name) => `trap 'echo ${name}; exit 3' ${name.slice(3)}`).join("; ")}
  echo up; while :; do sleep 0.05; done`,
];

describe.concurrent("signals", () => {
  test.each(FORWARDED)("%s is forwarded, and the command's own code counts", async (name) => {
    const run = cluster.createNamespace().startRun([], LISTENER);
    await run.waitForOutput("up");
    run.kill(name);
    // The whole process group gets it; the shell may say on standard error what became of its sleep.
    expect(await run.ended).toMatchObject({ code: 3, stdout: `up\n${name}\n` });
  });

  test.each(FORWARDED)("%s ends a command that does not listen for it: 128 + its number", async (name) => {
    const run = cluster.createNamespace().startRun([], "sh -c 'ulimit -c 0; echo up; exec sleep 1000'");
    await run.waitForOutput("up");
    expect(await run.end(name)).toPrint("up\n", 128 + NUMBERS[name]);
  });

  test.each(FORWARDED)("%s makes a waiting run leave its queues at once", async (name) => {
    const namespace = cluster.createNamespace();
    const holder = await namespace.startHolder("--lock job");
    const waiter = namespace.startRun("--lock job --wait", "echo ran");
    await namespace.waitForTicket(waiter, "waiting", "job");
    waiter.kill(name);
    const elapsed = startStopwatch();
    expect(await waiter.ended).toExitSilently(128 + NUMBERS[name]);
    expect(elapsed(), "ms until it has left, long before its session of 20 s").toBeLessThan(10_000);
    expect((await namespace.readQueue("job")).map(({ ticket }) => ticket?.pid)).toEqual([holder.pid]);
    await holder.end();
  });
});

describe.concurrent("the log", () => {
  const readLines = (path: string) => readFileSync(path, "utf8").split("\n").filter(Boolean);

  test("as JSON, every line parses and has its time, level and message", async () => {
    const file = cluster.createPath();
    const options = ["--lock", "a\u2028b", "--log-format", "json", "--log-file", file, "-vv"];
    expect(await cluster.createNamespace().run(options)).toExitSilently(0);
    const entries = readLines(file).map((line) => JSON.parse(line));
    expect(entries.length).toBeGreaterThan(2);
    for (const entry of entries) {
      expect(entry).toMatchObject({ level: expect.stringMatching(/^(debug|info|warn|error)$/) });
      expect(new Date(entry.time).toISOString()).toBe(entry.time);
      expect(entry.message).toEqual(expect.any(String));
    }
    expect(entries.map(({ message }) => message)).toContain("finished");
  });

  test("moved away and told so by USR2: the rest goes to a new file, and a waiting run waits on", async ({
    namespace,
  }) => {
    const file = cluster.createPath();
    const holder = await namespace.startHolder("--lock job");
    const run = namespace.startRun(`--lock job --wait -v --log-file ${file}`);
    await waitUntil(
      "that it waits, in the log",
      () => existsSync(file) && /waiting/.test(`${readLines(file)}`),
    );
    renameSync(file, `${file}.1`);
    run.kill("SIGUSR2");
    await waitUntil("a new log file", () => existsSync(file));
    holder.kill("SIGTERM");
    expect(await run.ended).toExitSilently(0);
    expect(readLines(`${file}.1`).join("\n")).toMatch("waiting");
    expect(readLines(file).join("\n")).toMatch(/started[\s\S]*finished/);
  });

  test("a log file that cannot be opened: 78 before anything is started", async () => {
    const run = cluster.createNamespace().startRun("--log-file /no/such/folder/log", "echo ran");
    expect(await run.ended).toExit(78, { stdout: "" });
    expect(run.output.stderr).toMatch(/cannot open the log file.*\/no\/such\/folder\/log/);
  });
});
