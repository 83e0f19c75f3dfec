import { existsSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { buildEnded, buildSkipped, buildStarted, NOON, Warnings } from "../../../fixtures/worker/events.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { createGuardianHost } from "../../../src/core/process/host.ts";
import { type HookOptions, Hooks } from "../../../src/worker/hooks/hooks.ts";

const clock = createRealClock();
/** Nobody waits for long here: between attempts, for one. */
const hasty = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 100, signal) };

function createTestHooks(options: HookOptions = {}, time = clock) {
  const log = new Warnings();
  const results: string[] = [];
  const env = { PATH: process.env.PATH };
  const random = { generateFraction: () => 0, generateBytes: (length: number) => new Uint8Array(length) };
  const ports = {
    clock: time,
    random,
    log,
    env,
    commands: createGuardianHost(clock),
    host: "web1.example.com",
  };
  const made = new Hooks(ports, {
    permission: "all",
    onResult: (result) => results.push(result),
    ...options,
  });
  onTestFinished(() => made.close(0));
  return { hooks: made, log, results };
}

interface Call {
  path: string | undefined;
  word: Record<string, unknown>;
}

/** @param answer  ends the answer, or does not */
async function startServer(answer: (response: http.ServerResponse, calls: Call[]) => void) {
  const calls: Call[] = [];
  const made = http.createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      calls.push({ path: request.url, word: JSON.parse(text) });
      answer(response, calls);
    });
  });
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    made.close();
    made.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, calls };
}

const answerStatus =
  (code: number, headers = {}) =>
  (response: http.ServerResponse) =>
    void response.writeHead(code, headers).end();

test("an address is told of start, success and failure in their order, by the paths of healthchecks.io", async () => {
  let open = 0;
  let most = 0;
  const { url, calls } = await startServer((response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      answerStatus(200)(response);
    }, 10);
  });
  const hook = `${url}/ping/1{event}`;
  const all = { start: hook, success: hook, failure: hook, late: hook, missed: hook };
  const { hooks: made, results } = createTestHooks({ lateAfter: 5_000 });
  made.handleEvent(buildStarted({ late: 5_000 }, { hooks: all }));
  made.handleEvent(buildEnded({}, {}, { hooks: all }));
  made.handleEvent(
    buildEnded({ result: "failed", code: 3, tail: "no\nmail" }, { again: NOON + 9 }, { hooks: all }),
  );
  made.handleEvent(buildEnded({ result: "retry" }, { again: NOON }, { hooks: all }));
  made.handleEvent(buildEnded({ result: "replaced" }, {}, { hooks: all }));
  made.handleEvent(buildSkipped(7, { hooks: all }));
  made.handleEvent({ kind: "load", running: 1, concurrency: 1 });
  await made.close();
  const paths = ["/start", "/log", "", "/fail", "/fail"].map((path) => `/ping/1${path}`);
  expect(calls.map(({ path }) => path)).toEqual(paths);
  expect(most).toBe(1);
  const [start, late, success, failure, missed] = calls.map(({ word }) => word);
  expect(start).toEqual({
    version: 1,
    event: "start",
    schedule: "mail.daily",
    type: "mail",
    host: "web1.example.com",
    scheduled: NOON,
    scheduledTime: "2026-01-05T12:00:00.000Z",
    run: "r1",
    attempt: 1,
    late: 5_000,
  });
  expect(late).toEqual({ ...start, event: "late" });
  expect(success).toMatchObject({ event: "success", result: "ok", isDead: false });
  expect(failure).toMatchObject({
    event: "failure",
    result: "failed",
    code: 3,
    tail: "no\nmail",
    again: NOON + 9,
  });
  expect(missed).toMatchObject({ event: "missed", count: 7, until: NOON + 60_000 });
  expect(results).toEqual(Array(5).fill("ok"));
});

test("the worker's hooks are called for every schedule, beside its own, and can be replaced", async () => {
  const { url, calls } = await startServer(answerStatus(204));
  const { hooks: made } = createTestHooks({ hooks: { start: `${url}/worker` } });
  made.handleEvent(buildStarted({}, { hooks: { start: `${url}/own` } }));
  await waitUntil("both are called", () => calls.length === 2);
  expect(calls.map(({ path }) => path).sort()).toEqual(["/own", "/worker"]);
  made.replace({ success: `${url}/new` });
  made.handleEvent(buildStarted());
  made.handleEvent(buildEnded());
  await made.close();
  expect(calls.slice(2).map(({ path }) => path)).toEqual(["/new"]);
});

test.each(["addresses", "none"] as const)(
  "with the permission %s, no command of a schedule runs, and it can change",
  async (permission) => {
    const { url, calls } = await startServer(answerStatus(204));
    const path = join(createTestFolder(), "word");
    const touch = ["touch", path];
    const { hooks: made, log, results } = createTestHooks({ permission });
    made.handleEvent(buildStarted({}, { hooks: { start: touch } }));
    made.handleEvent(buildEnded({}, {}, { hooks: { success: url } }));
    const isCalled = permission === "addresses";
    const expected = isCalled ? ["refused", "ok"] : [];
    await waitUntil("the address is called", () => results.length >= expected.length);
    expect(results).toEqual(expected);
    expect(calls).toHaveLength(Number(isCalled));
    expect(log.list.length, "a test is not warned").toBe(Number(isCalled));
    made.replace({ success: touch });
    made.handleEvent(buildEnded());
    await waitUntil("the worker's own command has run", () => existsSync(path));
    rmSync(path);
    made.replace({}, "all");
    made.handleEvent(buildStarted({}, { hooks: { start: touch } }));
    await made.close();
    expect(existsSync(path)).toBe(true);
  },
);

test.each([
  [500, 2, "it answered 500"],
  [429, 2, "it answered 429"],
  [404, 1, "it answered 404"],
])(
  "an answer of %i comes to %i attempts, and is logged without the secret in the path",
  async (code, tries, error) => {
    const { url, calls } = await startServer(answerStatus(code));
    const { hooks: made, log, results } = createTestHooks({ hooks: { start: `${url}/secret` } }, hasty);
    made.handleEvent(buildStarted());
    await waitUntil("it is over", () => results.length > 0);
    expect(calls).toHaveLength(tries);
    expect(results).toEqual(["failed"]);
    expect(log.list).toEqual([
      { message: "a hook failed", schedule: "mail.daily", event: "start", hook: url.slice(7), error },
    ]);
  },
);

test("an attempt that fails once is made up for by the second", async () => {
  const { url } = await startServer((response, calls) =>
    answerStatus(calls.length === 1 ? 503 : 200)(response),
  );
  const { hooks: made, log, results } = createTestHooks({ hooks: { start: url } }, hasty);
  made.handleEvent(buildStarted());
  await waitUntil("it is over", () => results.length > 0);
  expect(results).toEqual(["ok"]);
  expect(log.list).toEqual([]);
});

test("a redirect is not followed, and an answer without end is not read", async () => {
  const other = await startServer(answerStatus(200));
  const { url } = await startServer(answerStatus(307, { location: `${other.url}/x` }));
  const flood = await startServer((response) => {
    response.writeHead(200);
    const writeUntilFull = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
      response.once("drain", writeUntilFull);
    };
    writeUntilFull();
  });
  const { hooks: made, log, results } = createTestHooks({ hooks: { start: url, success: flood.url } });
  made.handleEvent(buildStarted());
  made.handleEvent(buildEnded());
  await waitUntil("both are over", () => results.length === 2);
  expect(results).toEqual(["failed", "ok"]);
  expect(log.list[0]?.error).toBe(`it answered 307, a redirect to ${other.url.slice(7)}; use that address`);
  expect(other.calls).toEqual([]);
});

test("an address that hangs costs its schedule its turn, others nothing; what does not fit is left out", async () => {
  const hanging = await startServer(() => {});
  const { url, calls } = await startServer(answerStatus(200));
  const { hooks: made, log, results } = createTestHooks({ within: 60_000 });
  for (let i = 0; i < 30; i += 1) made.handleEvent(buildStarted({}, { hooks: { start: hanging.url } }));
  made.handleEvent(buildStarted({ id: "other" }, { hooks: { start: url } }));
  await waitUntil("the other has been called", () => results.includes("ok"));
  expect(results).toEqual([...Array(9).fill("dropped"), "ok"]);
  expect(calls).toHaveLength(1);
  await waitUntil("the first hangs", () => hanging.calls.length === 1);
  await made.close(0);
  expect(results.slice(10)).toEqual(Array(21).fill("failed"));
  expect(log.list).toHaveLength(20); // the rest is counted, not told
  expect(hanging.calls).toHaveLength(1);
  made.handleEvent(buildStarted({}, { hooks: { start: url } }));
  expect(calls).toHaveLength(1);
});

test("an address that does not answer in time has failed", async () => {
  const { url } = await startServer(() => {});
  const { hooks: made, log } = createTestHooks({ within: 30, hooks: { start: url } }, hasty);
  made.handleEvent(buildStarted());
  await waitUntil("it is logged", () => log.list.length > 0);
  expect(log.list[0]?.error).toBe("no answer within 0.03 s");
});

test("an address that changes the protocol has failed, and the next hook of its schedule is called", async () => {
  const { url } = await startServer((response) => {
    response.writeHead(101, { connection: "upgrade", upgrade: "other" }).end();
  });
  const { hooks: made, log, results } = createTestHooks({ hooks: { start: url } });
  for (const _ of [1, 2]) made.handleEvent(buildStarted());
  await waitUntil("both have failed", () => results.length === 2);
  expect(log.list[0]?.error).toBe("the server changed the protocol");
});

test.each(["ftp://example.com/x", "no address", "", "file:///etc/passwd"])("%j is no hook", async (hook) => {
  const { hooks: made, log } = createTestHooks({ hooks: { start: hook } });
  made.handleEvent(buildStarted());
  await made.close();
  expect(log.list[0]?.error).toBe(
    "its address is not of the form https://…, slack+https://…, teams+https://…, ntfy+https://…, pagerduty+https://…, ping+https://… or mailto:ADDRESS",
  );
});

test("a command gets the word on its standard input and in its environment", async () => {
  const path = join(createTestFolder(), "out");
  const script = 'cat > "$1"; env | grep ^SIGNALBOX_ | grep -v CGROUP= | sort >> "$1"';
  const { hooks: made, results, log } = createTestHooks();
  const event = buildEnded(
    { result: "failed", code: 3 },
    {},
    { hooks: { failure: ["sh", "-c", script, "sh", path] } },
  );
  made.handleEvent(event);
  await made.close();
  expect([results, log.list]).toEqual([["ok"], []]);
  const [word = "", ...env] = readFileSync(path, "utf8").trim().split("\n");
  expect(JSON.parse(word)).toMatchObject({ event: "failure", code: 3, schedule: "mail.daily" });
  expect(env).toEqual([
    "SIGNALBOX_ATTEMPT=1",
    "SIGNALBOX_CODE=3",
    "SIGNALBOX_EVENT=failure",
    "SIGNALBOX_LATE_MS=20",
    "SIGNALBOX_RESULT=failed",
    "SIGNALBOX_SCHEDULE=mail.daily",
    "SIGNALBOX_SCHEDULED=2026-01-05T12:00:00.000Z",
    `SIGNALBOX_SCHEDULED_MS=${NOON}`,
    "SIGNALBOX_TYPE=mail",
  ]);
});

test.each([
  ["fails", ["sh", "-c", "echo out of paper; exit 3"], "exit code 3; its output: out of paper"],
  ["is killed", ["sh", "-c", "kill -9 $$"], "signal 9"],
  ["is not there", ["/nowhere/x"], '"/nowhere/x" was not found: no such file or directory (ENOENT)'],
])("a command that %s is logged, and not tried again", async (_, command, error) => {
  const { hooks: made, results, log } = createTestHooks({ hooks: { start: command } });
  made.handleEvent(buildStarted());
  await made.close();
  expect(results).toEqual(["failed"]);
  expect(log.list[0]).toMatchObject({ event: "start", hook: JSON.stringify(command[0]), error });
});

test("a command whose time is up is ended with all it has started, and so is one when the worker ends", async () => {
  const path = join(createTestFolder(), "pid");
  const command = ["sh", "-c", `sleep 300 & echo $! > ${path}; yes | head -c 1000000; wait`];
  const late = createTestHooks({ within: 3_000, hooks: { start: command } }); // a busy machine starts it within that
  late.hooks.handleEvent(buildStarted());
  await late.hooks.close();
  expect(late.log.list[0]?.error).toMatch(/^it was ended: its timeout has passed; its output: y y/);
  expect(existsSync(`/proc/${readFileSync(path, "utf8").trim()}`)).toBe(false);
  rmSync(path);
  const { hooks: made, results } = createTestHooks({ hooks: { start: command } });
  made.handleEvent(buildStarted());
  await waitUntil("it runs", () => existsSync(path) && readFileSync(path, "utf8").endsWith("\n"));
  await made.close(0);
  expect(results).toEqual(["failed"]);
  expect(existsSync(`/proc/${readFileSync(path, "utf8").trim()}`)).toBe(false);
});
