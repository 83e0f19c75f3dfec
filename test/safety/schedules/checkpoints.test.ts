/** Checkpoints: what a start of an occurrence saves, and the next one gets, while workers die, freeze and tasks misbehave. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import {
  putDueSchedule,
  runShell,
  waitForFile,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";
import { PreemptedError, TooLargeError, Worker, type WorkerTask } from "../../../src/library/index.ts";
import { parseCheckpoint } from "../../../src/schedule/state/checkpoint.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const LARGEST = 16_384;

/** Returns the checkpoints of a schedule in etcd. */
async function readCheckpoints(namespace: TestNamespace, id: string) {
  const { kvs } = await namespace.store.readRange({
    key: `${namespace.keys.prefix}checkpoints/${id}/`,
    rangeEnd: `${namespace.keys.prefix}checkpoints/${id}0`,
  });
  return kvs.map(({ value }) => parseCheckpoint(value));
}

const waitForCheckpoint = (namespace: TestNamespace, id: string, wanted: string) =>
  waitUntil(`checkpoint ${wanted}`, async () => (await readCheckpoints(namespace, id))[0] === wanted);

/** A shell script that first writes its attempt, and the checkpoint that it gets, into a log. */
function createScript(...steps: string[]) {
  const log = cluster.createPath();
  const told = `F=$SIGNALBOX_CHECKPOINT_FILE; echo "$SIGNALBOX_ATTEMPT:$(cat $F 2>&-)" >> ${log}`;
  const cases = steps.map((step, n) => `${n + 1}) ${step};;`).join("\n");
  const command = runShell(`${told}\ncase $SIGNALBOX_ATTEMPT in\n${cases}\nesac`);
  return { command, readLog: () => readFileSync(log, "utf8").trim().split("\n") };
}

describe.concurrent("a command", () => {
  test("goes on where the last start stopped, after a kill, a failure, and as a dead letter", async () => {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const { command, readLog } = createScript(
      'echo half > "$F.new"; mv "$F.new" "$F"; sleep 60',
      "printf late > $F; exit 1",
      "exit 1",
    );
    await putDueSchedule(namespace, "job", { command, retries: 1, backoff: 10 });
    const first = namespace.start("worker");
    await waitForCheckpoint(namespace, "job", "half\n");
    first.kill("SIGKILL");
    namespace.start("worker");
    const runs = await waitForOutcomes(namespace, "job", 2);
    expect(runs.map(({ attempt, result }) => [attempt, result])).toEqual([
      [3, "failed"],
      [2, "failed"],
    ]);
    expect(readLog()).toEqual(["1:", "2:half", "3:late"]);
    expect(await readCheckpoints(namespace, "job"), "a dead letter keeps it").toEqual(["late"]);
    // What is triggered anew has none; the dead letter goes on, succeeds, and etcd forgets its checkpoint.
    const edited = await namespace.execute([
      "schedule",
      "edit",
      "job",
      "--yes",
      "--",
      ...runShell("cat $SIGNALBOX_CHECKPOINT_FILE; exit 0"),
    ]);
    expect(edited).toExit(0);
    await namespace.expectDone("schedule trigger job --yes");
    const [plain] = await waitForOutcomes(namespace, "job", 3);
    expect(plain?.tail).toContain("No such file");
    await namespace.expectDone("schedule trigger job --dead all --yes");
    const [last] = await waitForOutcomes(namespace, "job", 4);
    expect(last).toMatchObject({ result: "ok", tail: "late" });
    expect(await readCheckpoints(namespace, "job")).toEqual([]);
  });

  test("is heard when it writes at its timeout, while it is ended", async ({ namespace }) => {
    const there = cluster.createPath();
    const { command, readLog } = createScript(
      `trap 'printf saved > "$F"; exit 3' TERM; touch ${there}; sleep 60 & wait`,
      "true",
    );
    await putDueSchedule(namespace, "job", { command, retries: 1, backoff: 10, timeout: 2_000 });
    namespace.start("worker");
    const runs = await waitForOutcomes(namespace, "job", 2);
    expect(runs.map(({ result }) => result)).toEqual(["ok", "timeout"]);
    expect(readLog()).toEqual(["1:", "2:saved"]);
    expect(await readCheckpoints(namespace, "job")).toEqual([]);
  });

  test.each([
    ["too large", `head -c ${LARGEST + 1} /dev/zero | tr '\\0' x > "$F"`, "larger than 16384 bytes"],
    ["no text", `printf 'a\\377' > "$F"`, "not text in UTF-8"],
    ["a link", `rm "$F"; ln -s /etc/hostname "$F"`, "symbolic link"],
    ["a pipe", `rm "$F"; mkfifo "$F"`, "not a file"],
    ["a directory", `rm "$F"; mkdir "$F"`, "not a file"],
    ["empty", `: > "$F"`, undefined],
  ])("whose checkpoint is %s keeps the one before, and the log says why", async (_, step, why) => {
    const namespace = cluster.createNamespace();
    const gate = cluster.createPath();
    const { command, readLog } = createScript(
      `printf good > "$F"; until [ -e ${gate} ]; do sleep 0.1; done; ${step}; exit 1`,
      `head -c ${LARGEST} /dev/zero | tr '\\0' x > "$F"; exit 1`,
      "true",
    );
    await putDueSchedule(namespace, "job", { command, retries: 2, backoff: 10 });
    const worker = namespace.start("worker");
    await waitForCheckpoint(namespace, "job", "good");
    writeFileSync(gate, "");
    await waitForOutcomes(namespace, "job", 3);
    expect(readLog()).toEqual(["1:", "2:good", `3:${"x".repeat(LARGEST)}`]);
    const warnings = worker.output.stderr.match(/a checkpoint is not kept.*/g) ?? [];
    if (why === undefined) expect(warnings).toEqual([]);
    else expect(warnings).toEqual([expect.stringContaining(why)]);
  });
});

test.concurrent("a backfill begins from the start, its retries go on, and so does a dead letter", async ({
  namespace,
}) => {
  const log = cluster.createPath();
  const steps = [
    "printf old > $F; exit 1", // of the first backfill
    "exit 1",
    "exit 1", // of the second one, which saves nothing at first
    "printf new > $F; exit 1",
    "exit 0", // of the dead letters
    "exit 0",
  ].map((step, n) => `${n + 1}) ${step};;`);
  const script = `F=$SIGNALBOX_CHECKPOINT_FILE; echo ":$(cat $F 2>&-)" >> ${log}
    case $(wc -l < ${log}) in ${steps.join("\n")}
    esac`;
  const retries = ["--retries", "1", "--backoff", "10ms"];
  await namespace.expectDone("schedule add job", "0 3 * * *", ...retries, "--", ...runShell(script));
  const span = ["--from", "2026-01-01T03:00Z", "--to", "2026-01-01T03:00Z"];
  namespace.start("worker");
  for (const count of [2, 4]) {
    await namespace.expectDone("schedule backfill job", ...span);
    await waitForOutcomes(namespace, "job", count);
  }
  expect(await readCheckpoints(namespace, "job")).toEqual(["new"]);
  await namespace.expectDone("schedule trigger job --dead all --yes");
  await waitForOutcomes(namespace, "job", 5);
  const [first, ...more] = readFileSync(log, "utf8").trimEnd().split("\n");
  expect([first, ...more.slice(0, 4)]).toEqual([":", ":old", ":", ":", ":new"]);
});

test.concurrent("what a frozen worker saves late is refused: the next start has the occurrence", async ({
  onTestFinished,
}) => {
  const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
  const [there, gate] = [cluster.createPath(), cluster.createPath()];
  const counting = `n=0; while :; do n=$((n + 1)); echo stale $n > "$F.new"; mv "$F.new" "$F"; sleep 0.05; done`;
  const { command, readLog } = createScript(
    counting,
    `printf new > "$F"; touch ${there}; until [ -e ${gate} ]; do sleep 0.1; done; exit 1`,
    "true",
  );
  await putDueSchedule(namespace, "job", { command, retries: 1, backoff: 10 });
  const frozen = namespace.start("worker");
  await waitUntil("a checkpoint", async () => (await readCheckpoints(namespace, "job")).length === 1);
  frozen.kill("SIGSTOP");
  onTestFinished(() => void frozen.kill("SIGKILL"));
  namespace.start("worker");
  await waitForFile(there);
  await waitForCheckpoint(namespace, "job", "new");
  frozen.kill("SIGCONT");
  await frozen.waitForOutput(/a checkpoint is not kept.*(refused|session was lost)/);
  expect(await readCheckpoints(namespace, "job")).toEqual(["new"]);
  frozen.kill("SIGKILL");
  writeFileSync(gate, "");
  await waitForOutcomes(namespace, "job", 2);
  expect(readLog()).toEqual(["1:", expect.stringMatching(/^2:stale \d+$/), "3:new"]);
});

test("a module saves data, and gets it in the next attempt", async ({ namespace }) => {
  const folder = createTestFolder();
  const module = join(folder, "handler.mjs");
  writeFileSync(
    module,
    `export default async function (task) {
      if (task.attempt === 2) {
        if (task.lastCheckpoint?.page !== 7) throw new Error(JSON.stringify(task.lastCheckpoint));
        return;
      }
      for (const bad of [undefined, "x".repeat(20_000)]) {
        try { task.checkpoint(bad); console.log("taken"); } catch (error) { console.log(error.message); }
      }
      task.checkpoint({ page: 6 });
      task.checkpoint({ page: 7 });
      throw new Error("it stops here");
    }`,
  );
  const file = join(folder, "worker.json");
  writeFileSync(file, JSON.stringify({ handlers: [{ type: "job", module }] }));
  await putDueSchedule(namespace, "job", { retries: 1, backoff: 10 });
  namespace.start(`worker --handlers ${file}`);
  const [last, first] = await waitForOutcomes(namespace, "job", 2);
  expect(first?.tail).toMatch(/JSON cannot represent.*\n.*it has 20002 bytes, and at most 16384/);
  expect(last).toMatchObject({ result: "ok", attempt: 2 });
  expect(await readCheckpoints(namespace, "job")).toEqual([]);
});

describe("a web server", () => {
  const NAME = "signalbox-checkpoint";
  const inJson = (value: unknown) => ({
    headers: { "content-type": "application/problem+json; charset=utf-8" },
    body: JSON.stringify({ title: "busy", [NAME]: value }),
  });
  const inHeader = (value: string) => ({ headers: { [NAME]: value }, body: "" });
  /** Starts a worker and a server, which gives one answer to each attempt, with the status 500, and then 200. */
  async function runAttempts(
    answers: readonly { status?: number; headers: Record<string, string | string[]>; body: string }[],
    more: object = {},
  ) {
    const namespace = cluster.createNamespace();
    const { url, requests } = await startWebServer((response) => {
      const {
        status = 500,
        headers,
        body,
      } = answers[requests.length - 1] ?? { ...inHeader("done"), status: 200 };
      response.writeHead(status, headers).end(body);
    });
    const handlers = [{ type: "job", http: { url, ...more } }];
    const file = cluster.createPath(JSON.stringify({ handlers }));
    await putDueSchedule(namespace, "job", { retries: answers.length, backoff: 10 });
    const worker = namespace.start(`worker --handlers ${file}`);
    const runs = await waitForOutcomes(namespace, "job", answers.length + 1);
    expect(runs[0]).toMatchObject({ result: "ok" });
    expect(await readCheckpoints(namespace, "job"), "a success ends it").toEqual([]);
    return {
      reasons: runs.map(({ reason }) => reason).reverse(),
      headers: requests.map(({ headers }) => headers[NAME]),
      bodies: requests.map(({ body }) => body && JSON.parse(body).lastCheckpoint),
      warnings: worker.output.stderr.match(/a checkpoint is not kept.*|a request does not have.*/g) ?? [],
    };
  }

  test("tells in a header how far it came, also when it is busy, and gets it with the next request", async () => {
    const busy = { status: 503, ...inHeader("page=7") };
    const seen = await runAttempts([
      { ...busy, headers: { ...busy.headers, "retry-after": "1" } },
      inHeader(""), // none
      inHeader("100%25 \u00fc".replace("\u00fc", Buffer.from("ü").toString("latin1"))),
      inHeader('{"page":8}'),
    ]);
    expect(seen.bodies).toEqual([undefined, "page=7", "page=7", "100% ü", '{"page":8}']);
    expect(seen.headers.map((value) => value && decodeURIComponent(String(value)))).toEqual(seen.bodies);
    expect(seen.reasons[0]).toBe("it answered 503 Service Unavailable");
    expect(seen.warnings).toEqual([]);
  });

  test("tells it in JSON, as long as checkpoints may be, which then only the body of the request has", async () => {
    const long = `${"\u0001".repeat(LARGEST - 2)}ü`;
    const seen = await runAttempts([
      inJson(long),
      inJson({ page: 7 }),
      inJson(null),
      inHeader("x".repeat(LARGEST)),
    ]);
    expect(seen.bodies).toEqual([undefined, long, '{"page":7}', '{"page":7}', "x".repeat(LARGEST)]);
    expect(seen.headers).toEqual([
      undefined,
      undefined,
      "%7B%22page%22%3A7%7D",
      "%7B%22page%22%3A7%7D",
      undefined,
    ]);
    expect(seen.warnings).toEqual([]);
  });

  test("reads in the outcome why what it gave is not kept, and gets the one before", async () => {
    const seen = await runAttempts([
      inHeader("good"),
      inHeader("x".repeat(LARGEST + 1)),
      inJson("y".repeat(LARGEST + 1)),
      inHeader("%FF%00"),
      inHeader("50%"),
      inHeader("\xff"),
      { headers: { [NAME]: ["twice", "twice"] }, body: "" },
    ]);
    expect(seen.bodies).toEqual([undefined, ...new Array(7).fill("good")]);
    const failed = "it answered 500 Internal Server Error";
    const size = "the checkpoint has 16385 bytes, and at most 16384 are kept";
    const encoding = "it is not percent-encoded UTF-8";
    expect(seen.reasons.slice(0, -1)).toEqual([
      failed,
      ...[size, size, encoding, encoding, encoding, "the response has 2 of them"].map(
        (why) => `${failed}; its checkpoint is not kept: ${why}`,
      ),
    ]);
    expect(seen.warnings).toHaveLength(6);
  });

  test("without the task as the body gets a checkpoint only in the header, and is told if it is too long", async () => {
    const seen = await runAttempts([inHeader("a".repeat(4096)), inHeader("b".repeat(4097))], {
      method: "GET",
    });
    expect(seen.headers).toEqual([undefined, "a".repeat(4096), "a".repeat(4096)]);
    expect(seen.reasons[1]).toMatch(/not kept: .* has 4097 bytes, and without "body: task" .* 4096$/);
  });
});

describe.concurrent("the library", () => {
  test("a handler saves data, without waiting for it too, and gets it in the next attempt", async () => {
    const namespace = cluster.createNamespace();
    const signalbox = await connectLibrary(namespace);
    const seen: unknown[] = [];
    const faults: unknown[] = [];
    const handle = async (task: WorkerTask) => {
      seen.push(task.lastCheckpoint);
      if (task.attempt === 3) return;
      await task.checkpoint("x".repeat(LARGEST)).catch((error) => faults.push(error));
      await task.checkpoint({ attempt: task.attempt });
      const late = [1, 2, 3].map((n) => task.checkpoint({ n, attempt: task.attempt }));
      expect(late).toHaveLength(3);
      throw new Error("it stops here");
    };
    const worker = new Worker(signalbox, { handlers: { job: handle } });
    void worker.run();
    await signalbox.schedules.add("job", { cron: "@manual", retries: 2, backoff: 10 });
    await signalbox.schedules.trigger("job");
    await waitForOutcomes(namespace, "job", 3);
    expect(seen).toEqual([undefined, { n: 3, attempt: 1 }, { n: 3, attempt: 2 }]);
    expect(faults).toEqual([expect.any(TooLargeError), expect.any(TooLargeError)]);
    expect(await readCheckpoints(namespace, "job")).toEqual([]);
  });

  test("etcd refuses the checkpoint of a task that another start has, and keeps that of the other", async () => {
    const namespace = cluster.createNamespace();
    const { schedules } = await connectLibrary(namespace);
    await schedules.add("job", { cron: "@manual" });
    await schedules.trigger("job");
    const source = await schedules.open();
    const task = await source.poll({ wait: true });
    await task?.checkpoint(["mine"]);
    expect(await readCheckpoints(namespace, "job")).toEqual(['["mine"]']);
    const { store, keys } = namespace;
    const [running] = (await store.readRange({ key: keys.running("job") })).kvs;
    const success = [{ op: "delete" as const, key: keys.running("job") }];
    await store.commitTxn({ compare: [], success, failure: [] });
    await namespace.put(keys.running("job"), running?.value ?? "");
    await expect(task?.checkpoint(["late"])).rejects.toThrow(PreemptedError);
    expect(await readCheckpoints(namespace, "job")).toEqual(['["mine"]']);
  });
});
