/** The output of runs: what is kept, and who sees it from where. */

import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import {
  putDueSchedule,
  runShell,
  WORKER_JOINED,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { retryAfterStalls } from "../../../fixtures/steady.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parsePastRuns } from "../../../src/core/protocol/history.ts";
import { formatOutputChunk } from "../../../src/core/protocol/output.ts";
import { buildPrefixRange } from "../../../src/core/protocol/txn.ts";
import { encodeRecord, HEADER_BYTES } from "../../../src/site/output/output-record.ts";

const cluster = TestCluster.startForFile();
const folder = createTestFolder(afterAll);

/** A directory for output; and one without any, as viewers on other hosts have it. */
let count = 0;
const createDirectory = () => join(folder, String(count++));
const ELSEWHERE = { SIGNALBOX_OUTPUT_DIRECTORY: join(folder, "elsewhere") };

function createNamespace(): { namespace: TestNamespace; directory: string } {
  const directory = createDirectory();
  return {
    namespace: cluster.createNamespace({ env: { SIGNALBOX_OUTPUT_DIRECTORY: directory } }),
    directory,
  };
}

/** Runs a pipeline of the shell in which "$@" is `signalbox run` with its options. */
async function runPipeline(
  namespace: TestNamespace,
  text: string,
  options: string[],
): Promise<number | null> {
  const env = { ...process.env, ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.etcd.clientUrl };
  const args = ["-c", text, "sh", process.execPath, BUNDLE, "run", ...options];
  const [code] = await once(spawn("bash", args, { env, stdio: "inherit" }), "exit");
  return code;
}

async function readHistory(namespace: TestNamespace, lock: string) {
  const { kvs } = await namespace.store.readRange({ key: namespace.keys.history(lock) });
  return parsePastRuns(kvs[0]?.value);
}

async function countOutputKeys({ store, prefix }: TestNamespace): Promise<number> {
  return (await store.readRange(buildPrefixRange(`${prefix}output/`))).kvs.length;
}

/** A command that writes a line, and then waits until a file is there. */
function waitingCommand(): { command: string[]; release: () => void } {
  const gate = cluster.createPath();
  const script = `echo begun; until [ -e ${gate} ]; do sleep 0.05; done; echo ended`;
  return { command: ["sh", "-c", script], release: () => writeFileSync(gate, "") };
}

describe.concurrent("a run with --capture", () => {
  test("binary output passes byte for byte, is kept, and is shown as it was", async () => {
    const { namespace } = createNamespace();
    const bytes = randomBytes(300_000);
    const [input, output, errors, shown, shownErrors] = Array.from({ length: 5 }, () => cluster.createPath());
    writeFileSync(input ?? "", bytes);
    const script = `"$@" --capture --lock bin -- sh -c 'tee /dev/fd/2; exit 3' <${input} >${output} 2>${errors}`;
    expect(await runPipeline(namespace, script, [])).toBe(3);
    expect(readFileSync(output ?? "").equals(bytes)).toBe(true);
    expect(readFileSync(errors ?? "").equals(bytes)).toBe(true);
    const env = { ...process.env, ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.etcd.clientUrl };
    const words = `"$1" ${BUNDLE} logs bin >${shown} 2>${shownErrors}`;
    const [code] = await once(spawn("bash", ["-c", words, "sh", process.execPath], { env }), "exit");
    expect(code).toBe(0);
    expect(readFileSync(shown ?? "").equals(bytes)).toBe(true);
    expect(readFileSync(shownErrors ?? "").equals(bytes)).toBe(true);
  });

  test("outputs that are one file keep their order", async () => {
    const { namespace } = createNamespace();
    const output = cluster.createPath();
    const script = `"$@" --capture --lock order -- sh -c 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done' >${output} 2>&1`;
    expect(await runPipeline(namespace, script, [])).toBe(0);
    expect(readFileSync(output, "utf8")).toBe("o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n");
  });

  test("a reader that closes early ends the command as it would without us", async () => {
    const { namespace } = createNamespace();
    const script = `"$@" --capture --lock early -- sh -c 'while echo line; do :; done; exit 9' | head -n 1 >/dev/null; exit \${PIPESTATUS[0]}`;
    expect([9, 141]).toContain(await runPipeline(namespace, script, []));
  });

  test("the end of the output is in the history, without escape sequences, and masked", async () => {
    const { namespace, directory } = createNamespace();
    const command = ["sh", "-c", "printf '\\033[31mred\\033[0m token=abc\\n'; echo last; exit 4"];
    const run = namespace.startRun("--capture --mask token=\\w+ --lock masked", command);
    expect(await run.ended).toMatchObject({ code: 4, stdout: "\x1b[31mred\x1b[0m token=abc\nlast\n" });
    expect((await readHistory(namespace, "masked"))[0]).toMatchObject({ exit: 4, tail: "red ***\nlast" });
    const kept = readdirSync(directory).map((name) => readFileSync(join(directory, name), "latin1"));
    expect(kept.join("")).toContain("red");
    expect(kept.join("")).not.toContain("abc");
    expect((await namespace.execute("logs masked")).stdout).toBe("\x1b[31mred\x1b[0m ***\nlast\n");
    const terminal = { columns: 80, rows: 24 };
    const shown = (await namespace.execute("logs masked", { terminal })).stdout;
    expect(shown).toContain("red ***");
    expect(shown).not.toContain("[31m");
  });

  test("a directory that cannot be written costs what is kept, and nothing else", async () => {
    const { namespace, directory } = createNamespace();
    writeFileSync(directory, "a file");
    const run = namespace.startRun("--capture --lock nodisk", "sh -c 'echo out; exit 5'");
    expect(await run.ended).toMatchObject({
      code: 5,
      stdout: "out\n",
      stderr: expect.stringContaining("not kept"),
    });
    expect((await readHistory(namespace, "nodisk"))[0]).toMatchObject({ exit: 5, tail: "out" });
  });

  test.skipIf(process.getuid?.() !== 0)(
    "a full disk costs what is kept, and nothing else (as root)",
    async ({ task, onTestFinished }) => {
      const { namespace, directory } = createNamespace();
      mkdirSync(directory, { mode: 0o700 });
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", directory]);
      onTestFinished(() => void execFileSync("umount", ["--lazy", directory]));
      // In pieces: of what comes faster than the disk takes it, only the end is kept, and the disk does not become full.
      const piece = "head -c 10000 /dev/zero; sleep 0.02";
      const script = `n=0; while [ $n -lt 30 ]; do ${piece}; n=$((n + 1)); done; echo; echo the end; exit 6`;
      const command = ["sh", "-c", script];
      await retryAfterStalls(task, async () => {
        const run = await namespace.run("--capture --lock full", command);
        expect(run).toExit(6, { stderr: /not kept.*(ENOSPC|full)/ });
        expect(run.stdout.length).toBe(300_009);
        expect((await readHistory(namespace, "full"))[0]).toMatchObject({
          exit: 6,
          tail: expect.stringMatching(/the end$/),
        });
        const shown = await namespace.execute("logs full");
        expect(shown).toExit(0, {
          stderr: "the end of its output is missing; etcd has this end of it:",
        });
        expect(shown.stdout).toMatch(/the end\n$/);
      });
    },
  );

  test("a reader that takes nothing for two sessions' time delays no renewal, and loses nothing", async () => {
    const { namespace } = createNamespace();
    const [begun, counted] = [cluster.createPath(), cluster.createPath()];
    // More than the pipes hold: the command waits for the reader, the runner does not.
    const script = `"$@" --ttl 4s --capture --lock slow -- sh -c 'head -c 1000000 /dev/zero' | { until [ -e ${begun} ]; do sleep 0.05; done; wc -c >${counted}; }; exit \${PIPESTATUS[0]}`;
    const ended = runPipeline(namespace, script, []);
    await waitUntil(
      "the run holds",
      async () => (await namespace.readQueue("slow"))[0]?.ticket?.state === "held",
    );
    const [first] = await namespace.readQueue("slow");
    const { grantedAt = 0 } = first?.ticket ?? {};
    await waitUntil("two sessions have passed", () => Date.now() > grantedAt + 8_000);
    expect((await namespace.readQueue("slow"))[0]?.createRevision).toBe(first?.createRevision);
    writeFileSync(begun, "");
    expect(await ended).toBe(0);
    expect(readFileSync(counted, "utf8").trim()).toBe("1000000");
  });

  test("a flood passes whole, and its end is kept within the size", async () => {
    const { namespace, directory } = createNamespace();
    const counted = cluster.createPath();
    const script = `"$@" --capture=64K --lock flood -- sh -c 'head -c 200000000 /dev/zero; echo; echo the end' | wc -c >${counted}`;
    expect(await runPipeline(namespace, script, [])).toBe(0);
    expect(readFileSync(counted, "utf8").trim()).toBe("200000009");
    const bytes = readdirSync(directory).reduce(
      (sum, name) => sum + readFileSync(join(directory, name)).length,
      0,
    );
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    expect((await namespace.execute("logs --tail 1 flood")).stdout).toBe("the end\n");
  });

  test("a killed runner ends the command, what it wrote has passed, and no relay stays", async () => {
    const { namespace } = createNamespace();
    const run = namespace.startRun("--capture --lock shot", waitingCommand().command);
    await run.waitForOutput("begun");
    run.kill("SIGKILL");
    // It ends when nobody has its outputs open any more: neither the command nor a relay.
    expect(await run.ended).toMatchObject({ signal: "SIGKILL", stdout: "begun\n" });
  });

  test("a process left behind does not keep the run, and goes on writing to the caller", async () => {
    const { namespace } = createNamespace();
    const gate = cluster.createPath();
    const script = `(until [ -e ${gate} ]; do sleep 0.05; done; echo late) & echo now`;
    const run = namespace.startRun("--capture --lock left", ["sh", "-c", script]);
    await once(run.child, "exit");
    expect(await namespace.readQueue("left")).toEqual([]);
    writeFileSync(gate, "");
    expect(await run.ended).toMatchObject({ code: 0, stdout: "now\nlate\n" });
    expect((await namespace.execute("logs left")).stdout).toBe("now\n");
  });

  test("wrong options are refused before anything is claimed", async () => {
    const { namespace } = createNamespace();
    const start = (...options: string[]) => namespace.run([...options, "--lock", "wrong"]);
    expect(await start("--capture=tiny")).toExit(64, { stderr: "--capture" });
    expect(await start("--capture", "--mask", "(")).toExit(64, { stderr: "--mask" });
  });
});

describe.concurrent("viewers", () => {
  test("follow a run from another host until its end; nothing is written before somebody looks", async () => {
    const { namespace } = createNamespace();
    const { command, release } = waitingCommand();
    const run = namespace.startRun("--capture --lock live", command);
    await run.waitForOutput("begun");
    expect(await countOutputKeys(namespace)).toBe(0);
    const viewer = namespace.start("logs -f live", { env: ELSEWHERE });
    await viewer.waitForOutput("begun");
    release();
    expect(await viewer.ended).toMatchObject({ code: 0, stdout: "begun\nended\n" });
    expect(await run.ended).toExit(0);
    expect(await countOutputKeys(namespace)).toBe(0);
  });

  test("ten of them see the same", async () => {
    const { namespace } = createNamespace();
    const { command, release } = waitingCommand();
    const run = namespace.startRun("--capture --lock ten", command);
    await run.waitForOutput("begun");
    const viewers = Array.from({ length: 10 }, () => namespace.start("logs -f ten", { env: ELSEWHERE }));
    await Promise.all(viewers.map((viewer) => viewer.waitForOutput("begun")));
    release();
    for (const { ended } of viewers) expect(await ended).toMatchObject({ code: 0, stdout: "begun\nended\n" });
    expect(await run.ended).toExit(0);
  });

  test("one that dies leaves nothing, and the run goes on", async () => {
    const { namespace } = createNamespace();
    const { command, release } = waitingCommand();
    const run = namespace.startRun("--capture --lock dies", command);
    await run.waitForOutput("begun");
    const viewer = namespace.start("logs -f dies", { env: ELSEWHERE });
    await viewer.waitForOutput("begun");
    viewer.kill("SIGKILL");
    await waitUntil("its keys expire", async () => (await countOutputKeys(namespace)) === 0);
    release();
    expect(await run.ended).toMatchObject({ code: 0, stdout: "begun\nended\n" });
  });

  test("a host that is gone: the end of the output from etcd, or the reason why there is none", async () => {
    const { namespace } = createNamespace();
    await namespace.run("--capture --lock gone", "echo 'the tail'");
    const stored = await namespace.execute("logs gone", { env: ELSEWHERE });
    expect(stored).toMatchObject({
      code: 0,
      stdout: "the tail\n",
      stderr: expect.stringContaining("gave no output of run"),
    });
    const { command } = waitingCommand();
    const run = namespace.startRun("--capture --lock killed", command);
    await run.waitForOutput("begun");
    run.kill("SIGKILL");
    const none = await namespace.execute("logs killed", { env: ELSEWHERE });
    expect(none).toMatchObject({ stdout: "", stderr: expect.stringContaining("gave no output of run") });
  });

  test("a host that stops answering: the end of the output is missing, though it may be kept there", async () => {
    const { namespace } = createNamespace();
    await namespace.run("--capture --lock silent", "echo 'the tail'");
    const shown = namespace.start("logs silent", { env: ELSEWHERE });
    const requests = buildPrefixRange(`${namespace.prefix}output/requests/`);
    let key = "";
    await waitUntil("the viewer asks", async () => {
      key = (await namespace.store.readRange(requests)).kvs[0]?.key ?? "";
      return key !== "";
    });
    const data = Buffer.from("the begin\n");
    const records = encodeRecord({ kind: 1, time: 0, data }).toString("base64");
    const chunk = { number: 1, server: "x", records, skipped: 0, isEnd: false };
    const viewer = key.slice(key.lastIndexOf("/") + 1);
    await namespace.put(namespace.keys.outputChunk(viewer), formatOutputChunk(chunk));
    expect(await shown.ended).toMatchObject({
      code: 0,
      stdout: "the begin\nthe tail\n",
      stderr: expect.stringMatching(
        /does not answer any more\n.*: the end of its output is missing; etcd has/,
      ),
    });
  });

  test("a run whose last output was not kept: the end of the output from etcd", async () => {
    const { namespace, directory } = createNamespace();
    await namespace.run("--capture --lock cut", "sh -c 'echo one; sleep 0.1; echo two'");
    expect(await namespace.execute("logs cut")).toExit(0, { stderr: "" });
    for (const name of readdirSync(directory)) truncateSync(join(directory, name), 4 + HEADER_BYTES);
    const shown = await namespace.execute("logs cut");
    expect(shown).toExit(0, {
      stderr: "the end of its output is missing; etcd has this end of it:",
    });
    expect(shown.stdout).toBe("one\none\ntwo\n");
    expect(await namespace.execute("logs cut --tail 0")).toExit(0, { stderr: "" });
    expect(await namespace.execute("logs cut --since now")).toExit(0, { stderr: "" });
  });

  test("unknown names are refused", async () => {
    const { namespace } = createNamespace();
    expect(await namespace.execute("logs nothing")).toExit(1);
  });
});

describe.concurrent("a worker", () => {
  test("keeps the output of its tasks, and shows it while they run and afterwards", async () => {
    const { namespace, directory } = createNamespace();
    const gate = cluster.createPath();
    const worker = namespace.start("worker --mask pw=\\w+", { env: { SIGNALBOX_OUTPUT_SIZE: "1M" } });
    await worker.waitForOutput(WORKER_JOINED);
    const script = `echo begun pw=secret; until [ -e ${gate} ]; do sleep 0.05; done; echo ended`;
    rmSync(gate, { force: true });
    await putDueSchedule(namespace, "task", { command: runShell(script) });
    await waitUntil(
      "the task writes",
      async () => existsSync(directory) && readdirSync(directory).length > 0,
    );
    const viewer = namespace.start("logs --follow task", { env: ELSEWHERE });
    await viewer.waitForOutput("begun ***");
    writeFileSync(gate, "");
    expect(await viewer.ended).toMatchObject({ code: 0, stdout: "begun ***\nended\n" });
    const [outcome] = await waitForOutcomes(namespace, "task");
    expect(outcome).toMatchObject({ result: "ok", tail: "begun ***\nended" });
    const later = await namespace.execute(["logs", "--tail", "1", String(outcome?.run)], { env: ELSEWHERE });
    expect(later).toPrint("ended\n");
    expect(await worker.end()).toExit(0);
  });
});
