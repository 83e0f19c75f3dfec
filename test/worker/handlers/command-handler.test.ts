import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, openSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listRemains } from "../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createHandlerFixture, createTask, writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { CommandHandler, type CommandHandlerOptions } from "../../../src/worker/handlers/command-handler.ts";

const buildShellCommand = (script: string) => ["sh", "-c", script];

/** Runs a command for a task, and makes sure that nothing of it is left. */
async function runHandler(command: readonly string[], more: Partial<CommandHandlerOptions> = {}) {
  const { mark, ports, lines } = createHandlerFixture();
  const verdict = await new CommandHandler(ports, { command, ...more }).run(createTask());
  expect(listRemains(mark)).toEqual([]);
  return { ...verdict, lines };
}

test.each([
  ["ends well", buildShellCommand("exit 0"), { result: "ok", code: 0 }],
  ["fails", buildShellCommand("exit 3"), { result: "failed", code: 3, reason: "exit code 3" }],
  ["fails with the largest code", buildShellCommand("exit 255"), { result: "failed", code: 255 }],
  ["asks for another start", buildShellCommand("exit 75"), { result: "retry", code: 75 }],
  [
    "is killed",
    buildShellCommand("kill -KILL $$"),
    { result: "failed", code: 137, reason: "it was ended by signal 9" },
  ],
  ["crashes", buildShellCommand("kill -SEGV $$"), { result: "failed", code: 139 }],
  ["is terminated from without", buildShellCommand("kill $$"), { result: "failed", code: 143 }],
  ["does not exist", ["/no/such/command"], { result: "failed", code: 127 }],
  ["is a folder", ["/tmp"], { result: "failed", code: 126 }],
  [
    "closes its outputs and goes on",
    buildShellCommand("exec >&- 2>&-; sleep 0.1; exit 4"),
    { result: "failed", code: 4 },
  ],
  [
    "has arguments as long as the system takes",
    ["true", "x".repeat(200_000)],
    { result: "failed", code: 126 },
  ],
])("a command that %s", async (_, command, verdict) => {
  expect(await runHandler(command)).toMatchObject(verdict);
});

test("a file without permission to be executed", async () => {
  const file = writeTestFile("script", "#!/bin/sh\n");
  chmodSync(file, 0o644);
  expect(await runHandler([file])).toMatchObject({
    result: "failed",
    code: 126,
    reason: expect.stringContaining(file),
  });
});

test("how long it waits before another start is the handler's business", async () => {
  expect(await runHandler(buildShellCommand("exit 75"), { retryWait: 7_000 })).toMatchObject({
    result: "retry",
    wait: 7_000,
  });
  expect(await runHandler(buildShellCommand("exit 75"))).not.toHaveProperty("wait");
});

test("the task is on standard input and in the environment", async () => {
  const { ports } = createHandlerFixture();
  const script = `cat; env | grep -E '^(SIGNALBOX_|OWN|MINE|THEIRS)' | grep -v CGROUP= | sort`;
  const handler = new CommandHandler(ports, {
    command: buildShellCommand(script),
    env: { OWN: "handler", MINE: "handler" },
  });
  const given = createTask({ data: { to: "ä" }, env: { MINE: "definition", SIGNALBOX_TOKEN: "forged" } });
  const { tail = "" } = await handler.run(given);
  const [json = "", ...env] = tail.split("\n");
  expect(JSON.parse(json)).toEqual({
    id: "reports.daily",
    type: "reports",
    scheduledTime: "2026-11-21T12:00:00.000Z",
    scheduled: given.scheduled,
    late: 40,
    attempt: 2,
    run: given.run,
    token: "77",
    data: { to: "ä" },
  });
  expect(env).toEqual([
    "MINE=definition",
    "OWN=handler",
    "SIGNALBOX_ATTEMPT=2",
    expect.stringMatching(/^SIGNALBOX_CHECKPOINT_FILE=.*\/signalbox-task-\w+\/checkpoint$/),
    "SIGNALBOX_HOST=a.example",
    expect.stringMatching(/^SIGNALBOX_PROGRESS_FILE=.*\/signalbox-task-\w+\/progress$/),
    `SIGNALBOX_RUN=${given.run}`,
    "SIGNALBOX_RUNNING_KEY=/p/running/reports.daily",
    "SIGNALBOX_SCHEDULE=reports.daily",
    "SIGNALBOX_SCHEDULED=2026-11-21T12:00:00.000Z",
    `SIGNALBOX_SCHEDULED_MS=${given.scheduled}`,
    "SIGNALBOX_TOKEN=77",
    "SIGNALBOX_TYPE=reports",
  ]);
});

test("its standard streams can be opened by their names", async () => {
  const script =
    "cat /dev/stdin > /dev/null; echo out > /dev/stdout; echo err > /dev/stderr; echo more | tee /dev/stderr";
  expect(await runHandler(buildShellCommand(script))).toMatchObject({
    result: "ok",
    tail: expect.stringMatching(/^out\n|\nout\n/),
  });
});

test("unread data larger than a pipe's buffer blocks no process", async () => {
  const { ports } = createHandlerFixture();
  const verdict = await new CommandHandler(ports, { command: ["true"] }).run(
    createTask({ data: "x".repeat(1e6) }),
  );
  expect(verdict).toEqual({ result: "ok", code: 0 });
});

test.each([
  ["printf 'one\\ntwo\\nthree'", ["one", "two", "three"]],
  ["echo one >&2", ["one"]],
])("the output of %s is passed on by lines, and its end is kept", async (script, expected) => {
  const { lines, tail } = await runHandler(buildShellCommand(script));
  expect([lines, tail]).toEqual([expected, expected.join("\n")]);
});

test("of a flood only a little is passed on, and 4 KiB kept", async () => {
  const {
    lines,
    tail = "",
    result,
  } = await runHandler(buildShellCommand("yes abcdefg | head -c 20000000; echo the end"));
  expect(result).toBe("ok");
  expect(lines.join("").length).toBeLessThan(70_000);
  expect(lines.at(-1)).toMatch("not passed on");
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(4_096);
  expect(tail).toMatch(/\nthe end$/);
});

test("binary output and escape sequences become harmless", async () => {
  const script = `head -c 3000 /dev/urandom; printf '\\n\\033[31mred\\033[0m \\033]0;title\\007\\377\\302\\233x\\n'`;
  const { lines, tail = "" } = await runHandler(buildShellCommand(script));
  expect(`${lines.join("")}${tail.replaceAll("\n", "")}`).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  expect(tail.split("\n").at(-1)).toMatch(/^red \ufffd/);
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(4_096);
});

test("the worker's own secrets are shown to nobody", async () => {
  const { ports, lines } = createHandlerFixture({ secrets: ["hunter2"] });
  const { tail } = await new CommandHandler(ports, { command: ["echo", "my hunter2!"] }).run(createTask());
  expect([tail, ...lines]).toEqual(["my ***!", "my ***!"]);
});

test.each([
  ["ends when told", "sleep 30"],
  ["does not heed TERM", "trap '' TERM; while :; do sleep 0.05; done"],
])("a command beyond its timeout that %s", async (_, script) => {
  expect(await runHandler(buildShellCommand(script), { timeout: 150 })).toMatchObject({
    result: "timeout",
    reason: "its timeout of 150ms has passed",
  });
});

test("a definition's timeout comes before the handler's", async () => {
  const { ports } = createHandlerFixture();
  const handler = new CommandHandler(ports, { command: ["sleep", "30"], timeout: 30_000 });
  expect(await handler.run(createTask({ timeout: 50 }))).toMatchObject({ result: "timeout" });
});

test.each(["lost", "replaced", "released"] as const)(
  "a task that was %s ends its command",
  async (result) => {
    const { mark, ports, lines } = createHandlerFixture();
    const given = createTask();
    const running = new CommandHandler(ports, {
      command: buildShellCommand("echo there; sleep 30 & sleep 30"),
    }).run(given);
    await waitUntil("output", () => lines.includes("there"));
    given.end(result);
    expect(await running).toMatchObject({ result, reason: `it was ${result}`, tail: "there" });
    expect(listRemains(mark)).toEqual([]);
  },
);

test("a task that ended before starts nothing", async () => {
  const { ports, lines } = createHandlerFixture();
  const given = createTask();
  given.end("replaced");
  expect(await new CommandHandler(ports, { command: ["echo", "x"] }).run(given)).toMatchObject({
    result: "replaced",
  });
  expect(lines).toEqual([]);
});

test("without renewals the command ends by the horizon; with one it lives on", async () => {
  const { mark, ports, lines } = createHandlerFixture();
  const given = createTask();
  given.extend(15_000);
  const running = new CommandHandler(ports, { command: buildShellCommand("echo there; sleep 30") }).run(
    given,
  );
  await waitUntil("output", () => lines.includes("there"));
  given.extend(400);
  expect(await running).toMatchObject({ result: "lost", reason: "the session could not be renewed in time" });
  expect(listRemains(mark)).toEqual([]);
  const other = createTask();
  other.extend(15_000);
  const longer = new CommandHandler(ports, { command: buildShellCommand("echo again; sleep 2.2") }).run(
    other,
  );
  await waitUntil("output", () => lines.includes("again"));
  other.extend(2_000);
  other.extend(20_000);
  expect(await longer).toMatchObject({ result: "ok" });
});

test("a task can be ended that waits for its files on a disk that does not answer", async () => {
  const { ports } = createHandlerFixture();
  const pipe = writeTestFile("pipe", "");
  rmSync(pipe);
  execFileSync("mkfifo", [pipe]);
  // Each keeps a thread of Node.js until somebody writes.
  const hung = Array.from({ length: Number(process.env.UV_THREADPOOL_SIZE ?? 4) }, () => open(pipe));
  onTestFinished(async () => {
    const descriptor = openSync(pipe, "r+");
    for (const file of await Promise.all(hung)) await file.close();
    closeSync(descriptor);
  });
  const given = createTask();
  const running = new CommandHandler(ports, { command: ["true"] }).run(given);
  given.end("replaced");
  expect(await running).toMatchObject({ result: "replaced" });
});

test("what a command leaves behind is ended before its verdict", async () => {
  const reason = "it left processes in the background, which were ended";
  const left = await runHandler(buildShellCommand("setsid sleep 30 & sleep 30 & exit 0"));
  expect(left).toMatchObject({ result: "ok", reason });
  const failed = await runHandler(buildShellCommand("sleep 30 & exit 3"));
  expect(failed).toMatchObject({ result: "failed", reason: `exit code 3; ${reason}` });
  expect(await runHandler(buildShellCommand("sleep 0 & wait"))).not.toHaveProperty("reason");
});

test("a command in a folder, with an input of its own", async () => {
  const { ports } = createHandlerFixture();
  const home = dirname(writeTestFile("x", ""));
  const command = buildShellCommand("pwd; cat; exit 3");
  const run = async (definition: Partial<Definition>) =>
    (await new CommandHandler(ports, { command }).run(createTask({ command, ...definition }))).tail;
  expect(await run({ folder: "/", input: "a\nb\n" })).toBe("/\na\nb");
  expect(await run({ folder: "~", input: "", env: { HOME: home } })).toBe(home);
  expect(await run({ folder: "~/none", input: "", env: { HOME: home } })).toContain(`${home}/none`);
  expect(await run({ folder: "/nowhere/at all" })).toContain("/nowhere/at all");
  expect(
    await new CommandHandler(ports, { command: ["/no/such"] }).run(createTask({ folder: "/" })),
  ).toMatchObject({
    result: "failed",
    code: 127,
  });
});
